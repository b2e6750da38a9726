import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Browser } from 'playwright-core'
import { accessibilityViolations, launchBrowser, openPage, withoutBrowser } from '../support/browser.ts'
import { newLink } from '../support/console.ts'
import { addPolicy, denials, openDenialScene, type DenialScene } from '../support/denial-scene.ts'

const sentences: Readonly<Record<string, RegExp>> = {
  always_blocked: /denied by moderation: self-harm\. This category is always blocked/i,
  gateway: /denied by the gateway configuration Acceptable use \(version 1\): the term “project condor”/i,
  policy: /denied by the policy No code names \(version 1\)/i,
}

describe('why a request was denied, in the console', { skip: withoutBrowser }, () => {
  let browser: Browser
  let scene: DenialScene
  before(async () => {
    browser = await launchBrowser()
    scene = await openDenialScene()
    for (const { setUp } of denials) await setUp(scene)
  })
  after(async () => {
    await scene[Symbol.asyncDispose]()
    await browser.close()
  })

  const openRequest = async (id: string, options: Parameters<typeof openPage>[1] = {}) => {
    const view = await openPage(browser, options)
    const { page } = view
    await page.goto(`${scene.addresses.administration}/console/#start=${await newLink(scene)}`)
    await page.locator('#page').waitFor()
    await page.goto(`${scene.addresses.administration}/console/requests/${id}`)
    return view
  }

  const asked = [
    ['a request', (text: string) => ({ prompt: text })],
    ['a response', (text: string) => ({ answer: text })],
    ['a stream', (text: string) => ({ answer: `${'Here is what I know. '.repeat(10)}${text}`, stream: true })],
  ] as const

  for (const { check, text, marked } of denials)
    for (const [what, sent] of asked)
      it(`names the check and the words that matched, for ${what} denied by ${check}`, async () => {
        const { id } = await scene.ask(sent(text))
        await using view = await openRequest(id)
        const { page } = view
        const detail = page.getByRole('complementary', { name: 'Request', exact: true })
        await detail.getByText(sentences[check] ?? '').waitFor()
        await detail.getByRole('button', { name: 'Show the texts' }).click()
        await detail.locator('mark').filter({ hasText: marked }).first().waitFor()
        if (what !== 'a request') await detail.getByText('Not sent to the caller').waitFor()
        if (check === 'policy') {
          await detail.getByRole('link', { name: 'No code names' }).first().click()
          await page.getByRole('heading', { name: 'No code names' }).waitFor()
        }
        if (check === 'gateway') {
          await detail.getByRole('link', { name: 'Acceptable use' }).first().click()
          await page.waitForURL(/\/gateway/)
        }
        assert.deepEqual(view.errors, [])
      })

  it('says what would have changed it, and shows the words when the texts are shown', async () => {
    const { id } = await scene.ask({ prompt: 'They say the falcon flies at dawn.' })
    await using view = await openRequest(id)
    const detail = view.page.getByRole('complementary', { name: 'Request', exact: true })
    await detail.getByText('text.contains("falcon")').waitFor()
    await detail.getByText('without No code names.').waitFor()
    await detail.getByText('without characters 13 to 19 of message 1.').waitFor()
    await detail.getByRole('button', { name: 'Show the texts' }).click()
    await detail.getByRole('listitem').filter({ hasText: 'without falcon in message 1.' }).locator('b').waitFor()
    assert.deepEqual(await accessibilityViolations(view.page), [])
    assert.deepEqual(view.errors, [])
  })

  it('says that a kept text is decided otherwise today, and what is missing in it', async () => {
    await using redacted = await openDenialScene('redacted')
    await addPolicy(redacted, { name: 'No lists', rule: 'cel:pii["email"] > 0' })
    const { id } = await redacted.ask({ prompt: 'write to ada@example.com' })
    await using view = await openPage(browser)
    await view.page.goto(`${redacted.addresses.administration}/console/#start=${await newLink(redacted)}`)
    await view.page.locator('#page').waitFor()
    await view.page.goto(`${redacted.addresses.administration}/console/requests/${id}`)
    await view.page.getByText('decision was refuse and is allow').waitFor()
    await view.page.getByText('personal data, which was replaced in the kept text').waitFor()
    assert.deepEqual(view.errors, [])
  })

  it('lists every check with its own mode', async () => {
    await addPolicy(scene, { name: 'No medical advice', rule: 'cel:text.contains("aspirin")', mode: 'monitoring' })
    const { id } = await scene.ask({ prompt: 'aspirin for the falcon' })
    await using view = await openRequest(id, { viewport: { width: 390, height: 844 }, colorScheme: 'dark' })
    const { page } = view
    const detail = page.getByRole('complementary', { name: 'Request', exact: true })
    const rowOf = (name: string) => detail.getByRole('listitem').filter({ hasText: name })
    await rowOf('No code names').getByText('Deny').waitFor()
    await rowOf('No medical advice').getByText('Monitoring').waitFor()
    await rowOf('Acceptable use').getByText('Allow').waitFor()
    await rowOf('Always blocked categories').getByText('Allow').waitFor()
    assert.equal(await page.evaluate('document.documentElement.scrollWidth'), 390)
    assert.deepEqual(await accessibilityViolations(page), [])
  })

  it('offers a higher threshold, says what it would have let through, and saves it as a draft', async () => {
    const rule = 'cel:text.contains("heron") ? 0.92 : text.contains("stork") ? 0.99 : 0.0'
    const policyId = await addPolicy(scene, { name: 'No birds', rule })
    await scene.ask({ prompt: 'the stork' })
    const { id } = await scene.ask({ prompt: 'the heron' })
    await using view = await openRequest(id)
    const { page } = view
    await page.getByRole('button', { name: 'Fix this' }).click()
    assert.equal(await page.getByLabel('Threshold, in basis points').inputValue(), '9201')
    await page.getByRole('button', { name: 'Replay the last 7 days' }).click()
    await page.getByText('Would let 1 of 2 denied requests through.').waitFor()
    await page.getByRole('link', { name: `${id.slice(0, 9)}…${id.slice(-6)}` }).waitFor()
    assert.deepEqual(await accessibilityViolations(page), [])
    await page.getByRole('button', { name: 'Save as draft' }).click()
    await page.getByRole('heading', { name: 'No birds' }).waitFor()
    const saved = await scene.get(`/v1/organization/policies/${policyId}`, {
      authorization: `Bearer ${scene.adminKey}`,
    })
    const { draft, has_unpublished_changes: hasChanges } = (await saved.json()) as Record<string, unknown>
    assert.equal(hasChanges, true)
    assert.partialDeepStrictEqual(draft, { rule, match_threshold_basis_points: 9201 })
    assert.deepEqual(view.errors, [])
  })

  it('offers to edit the rule if no threshold helps', async () => {
    const { id } = await scene.ask({ prompt: 'the falcon' })
    await using view = await openRequest(id)
    const { page } = view
    await page.getByRole('button', { name: 'Fix this' }).click()
    await page.getByText('No threshold lets this request pass').waitFor()
    await page.getByLabel('Rule', { exact: true }).fill('cel:text.contains("falcons"')
    await page.getByRole('button', { name: 'Replay the last 7 days' }).click()
    await page.getByRole('alert').waitFor()
    await page.getByLabel('Rule', { exact: true }).fill('cel:text.contains("falcons")')
    await page.getByRole('button', { name: 'Replay the last 7 days' }).click()
    await page.getByText(/Would let [1-9]\d* of [1-9]\d* denied requests through/).waitFor()
  })

  it('offers to take a denied term out of the gateway configuration, with what that would have let through', async () => {
    const { id } = await scene.ask({ prompt: 'What is Project Condor?' })
    await using view = await openRequest(id)
    const { page } = view
    await page.getByRole('button', { name: 'Fix this' }).click()
    const entry = page.getByLabel('Denied term “project condor”')
    await entry.uncheck()
    assert.equal(await page.getByRole('button', { name: 'Replay the last 7 days' }).isDisabled(), true)
    await entry.check()
    await page.getByRole('button', { name: 'Replay the last 7 days' }).click()
    await page.getByText(/Would let [1-9]\d* denied requests through\./).waitFor()
    await page.getByRole('link', { name: `${id.slice(0, 9)}…${id.slice(-6)}` }).waitFor()
    assert.deepEqual(await accessibilityViolations(page), [])
    await page.getByRole('button', { name: 'Save for new requests' }).click()
    await page.waitForURL(/\/gateway\?view=versions/)
    const saved = await scene.get('/api/policy-gateway/config', { authorization: `Bearer ${scene.adminKey}` })
    const { config } = (await saved.json()) as { config: { rules: { denylist: string[] } } }
    assert.ok(!config.rules.denylist.includes('project condor'))
    assert.deepEqual(view.errors, [])
  })
})
