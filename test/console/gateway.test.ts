import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { scheduler } from 'node:timers/promises'
import type { Browser, Page } from 'playwright-core'
import { accessibilityViolations, launchBrowser, openPage, withoutBrowser } from '../support/browser.ts'
import { openConsoleScene, type ConsoleScene } from '../support/console-scene.ts'

describe('the gateway configuration in the console', { skip: withoutBrowser }, () => {
  let browser: Browser
  let scene: ConsoleScene
  before(async () => {
    browser = await launchBrowser()
    scene = await openConsoleScene()
  })
  after(async () => {
    await scene[Symbol.asyncDispose]()
    await browser.close()
  })

  const path = '/api/policy-gateway/config'
  const admin = () => ({ authorization: `Bearer ${scene.adminKey}` })
  type Saved = { version: number; config: { rules: { denylist: string[]; redact: boolean } } }
  const saved = async (): Promise<Saved> => (await (await scene.get(path, admin())).json()) as Saved
  const saveTerms = (denylist: string[]) => scene.post(path, { rules: { denylist } }, admin())
  const countedRequests = async (): Promise<number> => {
    const { data } = (await (await scene.get('/v1/organization/gateway/decisions', admin())).json()) as {
      data: { version: number; enforced: { requests: number }; recorded: { requests: number } }[]
    }
    const { version } = await saved()
    const hours = data.filter((hour) => hour.version === version)
    return hours.reduce((sum, { enforced, recorded }) => sum + enforced.requests + recorded.requests, 0)
  }
  const openGateway = async (page: Page): Promise<void> => {
    await scene.openAt(page, '/gateway')
    await page.getByLabel('Denied terms').waitFor()
  }

  it('simulates the edited configuration beside the one in force while one types', async () => {
    await saveTerms([])
    const unchanged = await saved()
    await using open = await openPage(browser)
    const { page } = open
    await openGateway(page)
    await page.getByLabel('Text', { exact: true }).fill('What is Project Heron?')
    await page.getByRole('status').getByText('Edited').waitFor()
    await page.getByLabel('Denied terms').fill('project heron')
    await page.getByText('project heron', { exact: true }).last().waitFor()
    const verdicts = page.getByRole('status')
    await verdicts.getByText('Denied terms found').waitFor()
    await verdicts.getByText('Deny', { exact: true }).first().waitFor()
    await verdicts.getByText('Allow', { exact: true }).first().waitFor()
    await verdicts.getByRole('link', { name: 'No code names' }).waitFor()
    assert.equal(await verdicts.getByText('pol_').count(), 0)
    assert.deepEqual(await accessibilityViolations(page), [])
    assert.deepEqual(await saved(), unchanged)
    assert.deepEqual(open.errors, [])
  })

  it('denies prompt injections in one place, and records them in the others', async () => {
    await saveTerms([])
    await using open = await openPage(browser)
    const { page } = open
    await openGateway(page)
    await page.getByLabel('In results of tools').selectOption('Deny the request')
    await page.getByText('rules.prompt_injection.tool_results').waitFor()
    assert.deepEqual(await accessibilityViolations(page), [])
    await page.getByRole('button', { name: 'Save for new requests' }).click()
    await page.getByText('Saved. Requests that start now use it.').waitFor()
    const { config } = (await saved()) as unknown as { config: { rules: { prompt_injection: unknown } } }
    assert.deepEqual(config.rules.prompt_injection, {
      tool_results: 'block',
      documents: 'monitor',
      user_text: 'monitor',
    })
    assert.deepEqual(open.errors, [])
  })

  it('shows what differs, saves it, and restores an earlier version', async () => {
    await saveTerms(['kept', 'removed'])
    const { version } = await saved()
    await using open = await openPage(browser)
    const { page } = open
    await openGateway(page)
    await page.getByLabel('Denied terms').fill('kept\nadded')
    await page.getByLabel(/^Replace personal data/).check()
    await page.getByText('rules.denylist').waitFor()
    assert.equal(await page.locator('del').first().textContent(), 'removed')
    assert.equal(await page.locator('ins').first().textContent(), 'added')
    await page.getByText('Applies to every request that starts after saving.').waitFor()
    await page.getByRole('button', { name: 'Save for new requests' }).click()
    await page.getByText('Saved. Requests that start now use it.').waitFor()
    const changed = await saved()
    assert.deepEqual(changed.config.rules.denylist, ['kept', 'added'])
    assert.equal(changed.config.rules.redact, true)
    await page.getByRole('link', { name: 'Versions' }).click()
    await page.waitForURL(/view=versions/)
    await page.getByRole('button', { name: `Open version ${version}` }).waitFor()
    assert.deepEqual(await accessibilityViolations(page), [])
    await page.getByRole('button', { name: `Open version ${version}` }).click()
    await page.getByRole('button', { name: 'Save for new requests' }).click()
    await page.getByText('Saved. Requests that start now use it.').waitFor()
    assert.deepEqual((await saved()).config.rules.denylist, ['kept', 'removed'])
  })

  it('asks before unsaved changes are lost, and keeps them from view to view', async () => {
    await saveTerms([])
    await using open = await openPage(browser)
    const { page } = open
    await openGateway(page)
    await page.getByLabel('Denied terms').fill('half typed')
    await page.getByRole('link', { name: 'JSON' }).click()
    await page.getByText('"half typed"').first().waitFor()
    await page.getByRole('link', { name: 'Overview' }).click()
    const question = page.getByRole('dialog', { name: 'Leave without saving?' })
    await question.waitFor()
    assert.deepEqual(await accessibilityViolations(page), [])
    await question.getByRole('button', { name: 'Stay' }).click()
    await page.getByRole('link', { name: 'Form' }).click()
    assert.equal(await page.getByLabel('Denied terms').inputValue(), 'half typed')
    await page.getByRole('link', { name: 'Overview' }).click()
    await question.getByRole('button', { name: 'Leave and lose changes' }).click()
    await page.waitForURL(/overview/)
  })

  it('does not overwrite what somebody else saved meanwhile', async () => {
    await saveTerms(['mine'])
    await using open = await openPage(browser)
    const { page } = open
    await openGateway(page)
    await page.getByLabel('Denied terms').fill('mine\nmore')
    await saveTerms(['theirs'])
    await page.getByRole('button', { name: 'Save for new requests' }).click()
    await page.getByRole('button', { name: 'Compare with the saved version' }).click()
    await page.locator('del').getByText('theirs').waitFor()
    assert.deepEqual((await saved()).config.rules.denylist, ['theirs'])
    await page.getByRole('button', { name: 'Save for new requests' }).click()
    await page.getByText('Saved. Requests that start now use it.').waitFor()
    assert.deepEqual((await saved()).config.rules.denylist, ['mine', 'more'])
  })

  it('shows how often the configuration denied, where it is enforced and where it is only recorded', async () => {
    await scene.post(
      path,
      { rules: { denylist: ['tern'] }, rollout: { canary: { enabled: true, sample_percent: 50 } } },
      admin(),
    )
    const messages = [{ role: 'user', content: 'a tern' }]
    for (let user = 0; user < 16; user++) {
      const body = { model: 'gatehouse-echo', max_tokens: 10, messages, metadata: { user_id: `user-${user}` } }
      await (await scene.post('/v1/messages', body)).text()
    }
    while ((await countedRequests()) < 16) await scheduler.wait(100) // they are counted once a second
    await using open = await openPage(browser)
    const { page } = open
    await openGateway(page)
    const arms = page.getByRole('definition')
    await arms.filter({ hasText: '100.0%' }).nth(1).waitFor()
    const counted = await arms.filter({ hasText: '100.0%' }).allInnerTexts()
    const [enforced = 0, recorded = 0] = counted.map((words) => Number(/of (\d+) requests/.exec(words)?.[1]))
    assert.equal(enforced + recorded, 16)
    assert.ok(enforced > 0 && recorded > 0)
    assert.deepEqual(await accessibilityViolations(page), [])
    await saveTerms([])
  })

  it('shows the error of the server at the field, and edits every field as JSON', async () => {
    await saveTerms([])
    await using open = await openPage(browser)
    const { page } = open
    await openGateway(page)
    await page.getByLabel('Denied terms').fill('/(unclosed/')
    await page.getByRole('button', { name: 'Save for new requests' }).click()
    await page
      .getByRole('alert')
      .getByText(/^rules\.denylist/)
      .waitFor()
    await page.getByLabel('Text', { exact: true }).fill('Anything')
    await page.getByText('Fix the marked field to simulate the changes.').waitFor()
    assert.equal(
      await page.getByRole('alert').filter({ hasText: 'rules.denylist' }).count(),
      1,
      'one mistake is told once',
    )
    await page.getByRole('button', { name: 'Discard changes' }).click()
    await page.getByRole('link', { name: 'JSON' }).click()
    const editor = page.getByLabel('Configuration as JSON')
    const written = JSON.parse(await editor.inputValue()) as object
    await editor.fill('{')
    await page.getByText(/^This is not JSON yet/).waitFor()
    await editor.fill(JSON.stringify({ ...written, owner: 'Legal' }))
    await page.getByText('owner', { exact: true }).waitFor()
    assert.deepEqual(await accessibilityViolations(page), [])
  })

  it('lets a key without gateway:write try changes, and not save them', async () => {
    const body = { name: 'Reader', permissions: ['gateway:read', 'audit:read'] }
    const created = await scene.post('/v1/organization/admin_api_keys', body, admin())
    const { value } = (await created.json()) as { value: string }
    await using open = await openPage(browser)
    const { page } = open
    await page.goto(`${scene.url}/console/gateway`)
    await page.getByLabel('Administrator key').fill(value)
    await page.keyboard.press('Enter')
    await page.getByLabel('Denied terms').fill('heron')
    await page.getByText('rules.denylist').waitFor()
    await page.getByText(/You need the permission gateway:write/).waitFor()
    assert.ok(await page.getByRole('button', { name: 'Save for new requests' }).isDisabled())
  })

  it('works in both themes and at 390 pixels', async () => {
    for (const colorScheme of ['light', 'dark'] as const) {
      await using open = await openPage(browser, { colorScheme, viewport: { width: 390, height: 844 } })
      const { page } = open
      await openGateway(page)
      await page.getByLabel('Applies to').selectOption('share')
      await page.getByLabel(/^Share of end users/).fill('10')
      await page.getByText('Applies to 10 % of end users').waitFor()
      assert.deepEqual(await accessibilityViolations(page), [], colorScheme)
      assert.equal(await page.evaluate('document.documentElement.scrollWidth'), 390)
    }
  })
})
