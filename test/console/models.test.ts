import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { accessibilityViolations, launchBrowser, openPage, withoutBrowser } from '../support/browser.ts'
import { openConsoleScene, type ConsoleScene } from '../support/console-scene.ts'
import { answerJson, startUpstream, type TestUpstream } from '../support/upstream.ts'

const many = { requests_per_minute: 10_000, concurrent_requests: 1_000 }
const administration = { credential: many, console: many, organization: many }
const secret = 'sk-upstream-secret-of-this-test'
const completion = {
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hello' }, finish_reason: 'stop' }],
}

describe('models in the console', { skip: withoutBrowser }, () => {
  let browser: Browser
  let upstream: TestUpstream
  let scene: ConsoleScene
  before(async () => {
    browser = await launchBrowser()
    upstream = await startUpstream(answerJson(completion))
    const cloud = { name: 'cloud', kind: 'openai-chat', base_url: upstream.url, api_key: secret }
    const models = [
      {
        name: 'support',
        targets: [{ upstream: 'cloud', model: 'large' }, { upstream: 'local' }],
        price: { input: 0.4, output: 1.6 },
      },
      { name: 'claude-*', targets: [{ upstream: 'local' }] },
      { name: 'gatehouse-echo', targets: [{ upstream: 'local' }] },
    ]
    const config = { upstreams: [cloud, { name: 'local', kind: 'echo' }], models, administration }
    scene = await openConsoleScene({ config })
  })
  after(async () => {
    await scene[Symbol.asyncDispose]()
    await upstream[Symbol.asyncDispose]()
    await browser.close()
  })

  const openModels = async (page: Page, address = ''): Promise<void> => {
    await scene.openAt(page, `/models${address}`)
    await page.getByRole('region', { name: 'Catalogue' }).waitFor()
  }
  const upstreamRow = (page: Page, name: string) =>
    page.getByRole('region', { name: 'Upstreams' }).getByRole('row', { name: new RegExp(`^${name}`) })

  it('show the catalogue with prices and targets in one click, and no secret', async () => {
    await using open = await openPage(browser)
    const { page } = open
    await scene.signIn(page)
    await page.getByRole('link', { name: 'Models' }).click()
    const row = page.getByRole('row', { name: /^support/ })
    await row.getByText('cloud/large → local').waitFor()
    await row.getByText('$0.40').waitFor()
    await row.getByText('$1.60').waitFor()
    assert.deepEqual(await accessibilityViolations(page), [])
    assert.doesNotMatch(await page.content(), new RegExp(secret))
    assert.deepEqual(open.errors, [])
  })

  it('open an entry with its YAML to copy, and keep it in the address', async () => {
    await using open = await openPage(browser)
    const { page } = open
    await openModels(page)
    await page.getByRole('link', { name: 'support' }).click()
    await page.waitForURL(/model=support/)
    await page.reload()
    const dialog = page.getByRole('dialog', { name: 'Model support' })
    await dialog.getByText('- upstream: cloud').waitFor()
    await dialog.getByText('price: { input: 0.4, output: 1.6 }').waitFor()
    await dialog.getByText('models[0]').waitFor()
    assert.deepEqual(await accessibilityViolations(page), [])
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
    await page.getByRole('link', { name: 'claude-*' }).click()
    await page.getByText('Callers can send every name with the prefix.').waitFor()
    await page.getByText('name: "claude-*"').waitFor()
  })

  it('probe an upstream, and say what came of it', async () => {
    await using open = await openPage(browser)
    const { page } = open
    await openModels(page)
    await upstreamRow(page, 'cloud').getByText('Not called yet').waitFor()
    await page.getByRole('link', { name: 'Probe cloud' }).click()
    const dialog = page.getByRole('dialog', { name: 'Probe cloud' })
    await dialog.getByText('curl and command line').click()
    await dialog.getByText('gatehouse upstreams probe cloud').waitFor()
    assert.deepEqual(await accessibilityViolations(page), [])
    await dialog.getByRole('button', { name: 'Send one token' }).click()
    await dialog.getByText(/cloud answered in .* ms\. The model was large\./).waitFor()
    upstream.answer(answerJson({ error: { message: `The key ${secret} is wrong` } }, 500))
    await dialog.getByRole('button', { name: 'Send one token' }).click()
    await dialog.getByText(/cloud did not answer after .* ms:/).waitFor()
    assert.doesNotMatch(await page.content(), new RegExp(secret))
    await dialog.getByRole('button', { name: 'Close' }).last().click()
    await upstreamRow(page, 'cloud').getByText('Failing').waitFor()
    await upstreamRow(page, 'cloud').getByText('upstream_error').waitFor()
    assert.equal(upstream.requests.length, 2)
  })

  it('offer no probe to a key that may only read, and name the permission for the upstreams', async () => {
    const signInWith = async (page: Page, permissions: readonly string[]): Promise<void> => {
      const authorization = `Bearer ${scene.adminKey}`
      const body = { name: 'Reader', permissions }
      const created = await scene.post('/v1/organization/admin_api_keys', body, { authorization })
      await page.goto(`${scene.url}/console/models?probe=cloud`)
      await page.getByLabel('Administrator key').fill(((await created.json()) as { value: string }).value)
      await page.getByRole('button', { name: 'Sign in' }).click()
      await page.getByRole('region', { name: 'Catalogue' }).waitFor()
    }
    await using reader = await openPage(browser)
    await signInWith(reader.page, ['system:read'])
    await upstreamRow(reader.page, 'cloud').waitFor()
    assert.equal(await reader.page.getByRole('dialog').count(), 0)
    assert.equal(await reader.page.getByRole('link', { name: 'Probe cloud' }).count(), 0)
    assert.deepEqual(await accessibilityViolations(reader.page), [])
    await using other = await openPage(browser)
    await signInWith(other.page, ['policies:read'])
    await other.page.getByText('You need the permission system:read or models:write to see the upstreams.').waitFor()
    assert.equal(await other.page.getByRole('region', { name: 'Upstreams' }).count(), 0)
  })

  it('work in both themes, at 390 pixels, and by keyboard', async () => {
    for (const colorScheme of ['light', 'dark'] as const) {
      await using open = await openPage(browser, { colorScheme, viewport: { width: 390, height: 844 } })
      const { page } = open
      await openModels(page)
      await page.getByRole('link', { name: 'support' }).waitFor()
      assert.deepEqual(await accessibilityViolations(page), [], colorScheme)
      assert.equal(await page.evaluate('document.documentElement.scrollWidth'), 390)
      await page.getByRole('link', { name: 'Probe local' }).focus()
      await page.keyboard.press('Enter')
      await page.getByRole('dialog', { name: 'Probe local' }).waitFor()
      await page.keyboard.press('Escape')
      await page.getByRole('dialog').waitFor({ state: 'detached' })
    }
  })
})

describe('models of a fresh installation in the console', { skip: withoutBrowser }, () => {
  it('hide the upstreams of the operator, and offer to add one', async () => {
    await using browser = await launchBrowser()
    await using scene = await openConsoleScene({
      config: { administration: { ...administration, system_visible: false } },
    })
    await using open = await openPage(browser)
    const { page } = open
    await scene.openAt(page, '/models')
    await page.getByRole('link', { name: 'gatehouse-echo' }).waitFor()
    await page.getByRole('button', { name: 'Add upstream' }).waitFor()
    assert.equal(await page.getByRole('link', { name: 'Probe echo' }).count(), 0)
    assert.deepEqual(await accessibilityViolations(page), [])
    assert.deepEqual(open.errors, [])
  })
})
