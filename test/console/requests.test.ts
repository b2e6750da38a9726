import assert from 'node:assert/strict'
import { text } from 'node:stream/consumers'
import { after, before, describe, it } from 'node:test'
import type { Browser } from 'playwright-core'
import { accessibilityViolations, launchBrowser, openPage, withoutBrowser } from '../support/browser.ts'
import { openConsoleScene, type ConsoleScene } from '../support/console-scene.ts'

describe('the requests of the console', { skip: withoutBrowser }, () => {
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

  it('tell why a request was denied, from its id, in two steps', async () => {
    const denied = await scene.ask('the falcon flies')
    await using open = await openPage(browser)
    const { page } = open
    await scene.signIn(page)
    await page.keyboard.press('Control+k')
    await page.getByRole('combobox').fill(denied)
    await page.keyboard.press('Enter')
    await page.getByText('Denied by the policy No code names (version 1).').waitFor()
    const detail = page.getByRole('complementary', { name: 'Request', exact: true })
    await detail.getByText('10,000 / 5,000').waitFor()
    await detail.getByText('Request checks').waitFor()
    await detail.getByText('this', { exact: true }).waitFor()
    assert.deepEqual(await accessibilityViolations(page), [])
    assert.deepEqual(open.errors, [])
  })

  it('keep filters, columns and the open request in the address', async () => {
    await scene.ask('Hello')
    await scene.ask('falcon again')
    await using open = await openPage(browser)
    const { page } = open
    await scene.signIn(page)
    await page.getByRole('link', { name: 'Requests' }).click()
    await page.getByRole('button', { name: 'Add filter' }).click()
    await page.getByRole('button', { name: 'decision', exact: true }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Deny' }).click()
    await page.waitForURL(/decision=refuse/)
    // The rows of the list before stay until the new ones are there.
    await page.getByRole('row').filter({ hasText: 'Allow' }).first().waitFor({ state: 'detached' })
    await page.keyboard.press('j')
    await page.waitForURL(/requests\/req_/)
    const address = page.url()
    await using other = await openPage(browser)
    await scene.signIn(other.page)
    await other.page.goto(address)
    await other.page.getByText('Denied by the policy No code names (version 1).').waitFor()
    assert.equal(await other.page.getByRole('row').filter({ hasText: 'Allow' }).count(), 0)
  })

  it('show how long an answer was held back for its checks', async () => {
    const allowed = await scene.ask('Hello')
    await using open = await openPage(browser)
    const { page } = open
    await scene.openAt(page, `/requests/${allowed}`)
    await page.getByText(/Checked as a whole before it was sent\. Held for up to [\d.]+ ms/).waitFor()
  })

  it('are saved as a file, with the filters that are shown', async () => {
    const denied = await scene.ask('a falcon for the file')
    await using open = await openPage(browser)
    const { page } = open
    await scene.openAt(page, '/requests?status=denied')
    await page.getByRole('row').nth(1).waitFor()
    await page.getByRole('button', { name: 'Export' }).click()
    assert.deepEqual(await accessibilityViolations(page), [])
    const downloading = page.waitForEvent('download')
    await page.getByRole('menuitem', { name: 'CSV' }).click()
    const file = await downloading
    assert.equal(file.suggestedFilename(), 'requests.csv')
    const lines = (await text(await file.createReadStream())).trimEnd().split('\r\n')
    assert.ok(lines.some((line) => line.startsWith(denied)))
    assert.ok(lines.slice(1).every((line) => line.includes(',denied,refuse,')))
    assert.deepEqual(open.errors, [])
  })

  it('show markup in texts and names as text', async () => {
    const markup = '<img src=x onerror=alert(1)>'
    await scene.ask('Hello', markup)
    await using open = await openPage(browser)
    const { page } = open
    await scene.openAt(page, '/requests')
    await page.getByRole('cell', { name: markup }).first().waitFor()
    assert.equal(await page.locator('img').count(), 0)
    assert.deepEqual(open.errors, [])
  })

  it('say what was asked for if nothing matches, and lead out', async () => {
    await using open = await openPage(browser)
    const { page } = open
    await scene.openAt(page, '/requests?model=nobody-uses-this')
    await page.getByText('No requests match these filters').waitFor()
    await page.getByRole('button', { name: 'Clear filters' }).click()
    await page.getByRole('row').nth(1).waitFor()
  })

  it('work in both themes, at 390 pixels, and by keyboard', async () => {
    await scene.ask('Hello')
    for (const colorScheme of ['light', 'dark'] as const) {
      await using open = await openPage(browser, { colorScheme, viewport: { width: 390, height: 844 } })
      const { page } = open
      await scene.openAt(page, '/requests')
      await page.getByRole('row').nth(1).waitFor()
      assert.deepEqual(await accessibilityViolations(page), [], colorScheme)
      assert.equal(await page.evaluate('document.documentElement.scrollWidth'), 390)
      await page.getByRole('row').nth(1).getByRole('button').first().focus()
      await page.keyboard.press('Enter')
      await page.getByRole('complementary', { name: 'Request', exact: true }).getByText('Timeline').waitFor()
      assert.deepEqual(await accessibilityViolations(page), [], colorScheme)
      await page.keyboard.press('Escape')
      await page.waitForURL(/requests$/)
    }
  })

  it('show the kept texts with what a policy found, and record who read them', async () => {
    await using keeping = await openConsoleScene({ config: { audit: { content: 'full' } } })
    const markup = '<b onclick=alert(1)>falcon</b>'
    const denied = await keeping.ask(markup)
    await using open = await openPage(browser)
    const { page } = open
    await keeping.openAt(page, `/requests/${denied}`)
    const detail = page.getByRole('complementary', { name: 'Request', exact: true })
    await detail.getByText('Reading them is recorded in the audit log.').waitFor()
    assert.equal(await detail.getByText(markup).count(), 0)
    await detail.getByRole('button', { name: 'Show the texts' }).click()
    assert.equal(await detail.locator('mark').textContent(), 'falcon')
    assert.equal(await detail.getByText(markup).count(), 1)
    assert.deepEqual(await accessibilityViolations(page), [])
    await page.goto(`${keeping.url}/console/audit?event_kind=audit.content.read`)
    await page.getByRole('row').filter({ hasText: 'audit.content.read' }).waitFor()
    assert.equal(await page.getByRole('row').filter({ hasText: 'audit.content.read' }).count(), 1)
    assert.deepEqual(open.errors, [])
  })

  it('say why texts are not shown: they are not kept, or the key may not read them', async () => {
    const id = await scene.ask('Hello')
    await using open = await openPage(browser)
    await scene.openAt(open.page, `/requests/${id}`)
    await open.page.getByText('The texts of this request were not stored.').waitFor()
    await using keeping = await openConsoleScene({ config: { audit: { content: 'redacted' } } })
    const kept = await keeping.ask('Hello')
    const admin = { authorization: `Bearer ${keeping.adminKey}` }
    const body = { name: 'no texts', permissions: ['audit:read'] }
    const made = await keeping.post('/v1/organization/admin_api_keys', body, admin)
    const { value } = (await made.json()) as { value: string }
    await using other = await openPage(browser)
    await other.page.goto(`${keeping.url}/console/requests/${kept}`)
    await other.page.getByLabel('Administrator key').fill(value)
    await other.page.keyboard.press('Enter')
    await other.page.getByText('You need the permission content:read').waitFor()
    assert.equal(await other.page.getByRole('button', { name: 'Show the texts' }).count(), 0)
  })
})
