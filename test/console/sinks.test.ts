import assert from 'node:assert/strict'
import { after, before, describe, it, type TestContext } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { accessibilityViolations, launchBrowser, openPage, withoutBrowser } from '../support/browser.ts'
import { openConsoleScene, type ConsoleScene } from '../support/console-scene.ts'
import { startReceiver, type Handler } from '../support/receiver.ts'

const secret = 'at-least-24-plain-characters'

describe('the sinks of the console', { skip: withoutBrowser }, () => {
  let browser: Browser
  let scene: ConsoleScene
  before(async () => {
    browser = await launchBrowser()
    scene = await openConsoleScene({ config: { exports: { allow_addresses: ['127.0.0.0/8'] } } })
  })
  after(async () => {
    await scene[Symbol.asyncDispose]()
    await browser.close()
  })

  const createSink = async (t: TestContext, label: string, handle: Handler): Promise<string> => {
    const { origin } = await startReceiver(t, handle)
    const body = { type: 'webhook', label, config: { url: `${origin}/events`, secret } }
    const response = await scene.post('/api/policy-gateway/exports', body)
    assert.equal(response.status, 201)
    const answer = (await response.json()) as { export: { id: string } }
    t.after(() => fetch(`${scene.url}/api/policy-gateway/exports/${answer.export.id}`, { method: 'DELETE', headers }))
    return answer.export.id
  }
  const headers = {
    get authorization() {
      return `Bearer ${scene.adminKey}`
    },
  }
  const drawerOf = (page: Page) => page.getByRole('complementary', { name: 'Sink', exact: true })

  it('teach what a sink is while there is none', async () => {
    await using open = await openPage(browser)
    const { page } = open
    await scene.signIn(page)
    await page.getByRole('link', { name: 'Sinks' }).click()
    await page.getByText('No sinks yet').waitFor()
    await page.getByText('gatehouse sinks create -f sink.yaml').waitFor()
    assert.deepEqual(await accessibilityViolations(page), [])
    assert.deepEqual(open.errors, [])
  })

  it('are found at their former address', async (t) => {
    const id = await createSink(t, 'Bookmarked', () => ({ status: 200 }))
    await using open = await openPage(browser)
    const { page } = open
    await scene.signIn(page)
    await page.goto(`${scene.url}/console/exports?new=webhook`)
    await page.waitForURL(`${scene.url}/console/sinks?new=webhook`)
    await page.goto(`${scene.url}/console/exports/${id}`)
    await page.waitForURL(`${scene.url}/console/sinks/${id}`)
    await drawerOf(page).getByRole('heading', { name: 'Bookmarked' }).waitFor()
    assert.deepEqual(open.errors, [])
  })

  it('tell which sink fails and why in one click', async (t) => {
    await createSink(t, 'Security team', () => ({ status: 200 }))
    await createSink(t, 'Lost credentials', () => ({ status: 401 }))
    await using open = await openPage(browser)
    const { page } = open
    await scene.signIn(page)
    await page.getByRole('link', { name: 'Sinks' }).click()
    const row = page.getByRole('row').filter({ hasText: 'Lost credentials' })
    await row.getByText('Credentials rejected').waitFor({ timeout: 30_000 })
    await row.getByRole('cell', { name: /answered 401/ }).waitFor()
    await page.getByRole('row').filter({ hasText: 'Security team' }).getByText('Delivering').waitFor()
    assert.deepEqual(await accessibilityViolations(page), [])
    assert.deepEqual(open.errors, [])
  })

  it('create a sink by a form made from the schema of its kind, and show the error of a field at the field', async (t) => {
    const { origin } = await startReceiver(t, () => ({ status: 200 }))
    await using open = await openPage(browser)
    const { page } = open
    await scene.signIn(page)
    await page.goto(`${scene.url}/console/sinks?new=webhook`)
    const dialog = page.getByRole('dialog', { name: 'New sink' })
    await dialog.getByLabel('Kind of destination').selectOption('elastic')
    await dialog.getByLabel('Sign in with').selectOption('basic')
    await dialog.getByLabel('Password').waitFor()
    assert.deepEqual(await accessibilityViolations(page), [])
    await dialog.getByLabel('Kind of destination').selectOption('webhook')
    await dialog.getByLabel('Name').fill('Archive')
    await dialog.getByLabel('URL').fill(`${origin}/events`)
    await dialog.getByLabel('Secret').fill('short')
    await dialog.getByRole('button', { name: 'Create Webhook sink' }).click()
    await dialog
      .getByRole('alert')
      .getByText(/^Must have at least 24 characters without spaces/)
      .waitFor()
    await dialog.getByLabel('Secret').fill(secret)
    await dialog.getByText('curl and command line').click()
    await dialog.getByText('gatehouse sinks create -f sink.yaml').waitFor()
    await dialog.getByRole('button', { name: 'Create Webhook sink' }).click()
    await page.waitForURL(/sinks\/sink_/)
    await drawerOf(page).getByRole('heading', { name: 'Archive' }).waitFor()
    await drawerOf(page).getByRole('button', { name: 'Send test event' }).click()
    await drawerOf(page).getByText('The destination accepted the test event.').waitFor()
  })

  it('offer daily costs for S3, without what chooses among events', async () => {
    await using open = await openPage(browser)
    const { page } = open
    await scene.signIn(page)
    await page.goto(`${scene.url}/console/sinks?new=s3`)
    const dialog = page.getByRole('dialog', { name: 'New sink' })
    await dialog.getByText('More settings').click()
    await dialog.getByRole('group', { name: 'Filter' }).waitFor()
    await dialog.getByLabel('Start from').waitFor()
    await dialog.getByLabel('What is sent').selectOption('Daily costs (FOCUS 1.2)')
    await dialog.getByRole('group', { name: 'Filter' }).waitFor({ state: 'hidden' })
    assert.equal(await dialog.getByLabel('Start from').count(), 0)
    assert.deepEqual(await accessibilityViolations(page), [])
    await dialog.getByLabel('Name', { exact: true }).fill('Finance')
    await dialog.getByLabel('Bucket', { exact: true }).fill('costs')
    await dialog.getByLabel('Region', { exact: true }).fill('eu-central-1')
    await dialog.getByLabel('Access key id', { exact: true }).fill('AKIAEXAMPLE')
    await dialog.getByLabel('Secret access key', { exact: true }).fill('example')
    await dialog.getByRole('button', { name: 'Create S3 sink' }).click()
    await page.waitForURL(/sinks\/sink_/)
    await drawerOf(page).getByText('Days written').waitFor()
    await drawerOf(page).getByRole('button', { name: 'Write test file' }).waitFor()
  })

  it('edit, pause and resume a sink, and delete it by its name', async (t) => {
    const id = await createSink(t, 'To be changed', () => ({ status: 200 }))
    await using open = await openPage(browser)
    const { page } = open
    await scene.signIn(page)
    await page.keyboard.press('Control+k')
    await page.getByRole('combobox').fill(id)
    await page.keyboard.press('Enter')
    await page.waitForURL(`${scene.url}/console/sinks/${id}`)
    const drawer = drawerOf(page)
    await drawer.getByRole('button', { name: 'Pause delivery' }).click()
    await drawer.getByText('Paused', { exact: true }).waitFor()
    await drawer.getByRole('button', { name: 'Resume delivery' }).click()
    await drawer.getByText('Delivering', { exact: true }).waitFor()
    await drawer.getByRole('button', { name: 'Edit' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('More settings').click()
    await dialog.getByLabel('Texts of prompts and responses').selectOption('redacted')
    await dialog.getByLabel('Deny').check()
    assert.deepEqual(await accessibilityViolations(page), [])
    await dialog.getByRole('button', { name: 'Save changes' }).click()
    await dialog.waitFor({ state: 'hidden' })
    const saved = await scene.get(`/api/policy-gateway/exports/${id}`)
    const { config } = ((await saved.json()) as { export: { config: Record<string, unknown> } }).export
    assert.equal(config['content'], 'redacted')
    assert.deepEqual(config['filter'], { decisions: ['refuse'] })
    await drawer.getByRole('button', { name: 'Delete' }).click()
    const remove = dialog.getByRole('button', { name: 'Delete this sink' })
    assert.ok(await remove.isDisabled())
    assert.deepEqual(await accessibilityViolations(page), [])
    await dialog.getByLabel('Enter To be changed to confirm').fill('To be changed')
    await remove.click()
    await page.waitForURL(/\/sinks$/)
    assert.equal((await scene.get(`/api/policy-gateway/exports/${id}`)).status, 404)
  })

  it('send dead letters again', async (t) => {
    let isStrict = false
    const id = await createSink(t, 'Strict receiver', () => ({ status: isStrict ? 400 : 200 }))
    await using open = await openPage(browser)
    const { page } = open
    await scene.signIn(page)
    await page.goto(`${scene.url}/console/sinks/${id}`)
    const drawer = drawerOf(page)
    await drawer.getByText('The destination accepts events.').waitFor({ timeout: 30_000 })
    // Events are rejected permanently only after the destination has accepted some.
    await drawer
      .getByRole('definition')
      .filter({ hasText: /^\w+ \d+, \d{4}, / })
      .waitFor({ timeout: 30_000 })
    isStrict = true
    await scene.ask('Hello')
    const again = drawer.getByRole('button', { name: /^Retry \d+$/ })
    await again.waitFor({ timeout: 30_000 })
    await drawer
      .getByRole('cell', { name: /answered 400/ })
      .first()
      .waitFor()
    assert.deepEqual(await accessibilityViolations(page), [])
    isStrict = false
    await again.click()
    await drawer.getByText(/^Retrying [1-9]\d* events/).waitFor()
    await drawer.getByText('The destination rejected no events.').waitFor({ timeout: 30_000 })
  })

  it('offer no change to a key that may only read', async (t) => {
    const id = await createSink(t, 'Read only', () => ({ status: 200 }))
    const created = await scene.post(
      '/v1/organization/admin_api_keys',
      { name: 'Reader', permissions: ['exports:read', 'audit:read'] },
      headers,
    )
    const { value } = (await created.json()) as { value: string }
    await using open = await openPage(browser)
    const { page } = open
    await page.goto(`${scene.url}/console/sinks/${id}`)
    await page.getByLabel('Administrator key').fill(value)
    await page.keyboard.press('Enter')
    const drawer = drawerOf(page)
    await drawer.getByText('You need the permission exports:write to change sinks.').waitFor()
    for (const name of ['Send test event', 'Pause delivery', 'Edit', 'Delete'])
      assert.ok(await drawer.getByRole('button', { name }).isDisabled(), name)
  })

  it('work in both themes and at 390 pixels', async (t) => {
    const id = await createSink(t, 'Lost credentials', () => ({ status: 401 }))
    for (const colorScheme of ['light', 'dark'] as const) {
      await using open = await openPage(browser, { colorScheme, viewport: { width: 390, height: 844 } })
      const { page } = open
      await scene.signIn(page)
      await page.goto(`${scene.url}/console/sinks`)
      await page.getByText('Credentials rejected').first().waitFor({ timeout: 30_000 })
      await page
        .getByRole('cell', { name: /answered 401/ })
        .first()
        .waitFor()
      assert.deepEqual(await accessibilityViolations(page), [], colorScheme)
      assert.equal(await page.evaluate('document.documentElement.scrollWidth'), 390)
      await page.goto(`${scene.url}/console/sinks/${id}`)
      await drawerOf(page).getByText('The destination rejects the credentials.').waitFor()
      assert.deepEqual(await accessibilityViolations(page), [], colorScheme)
      assert.equal(await page.evaluate('document.documentElement.scrollWidth'), 390)
    }
  })
})
