import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { pathToFileURL } from 'node:url'
import type { Browser } from 'playwright-core'
import { accessibilityViolations, launchBrowser, openPage, withoutBrowser } from '../support/browser.ts'
import { openConsoleScene, type ConsoleScene } from '../support/console-scene.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

describe('the audit log in the console', { skip: withoutBrowser }, () => {
  let browser: Browser
  let scene: ConsoleScene
  before(async () => {
    browser = await launchBrowser()
    scene = await openConsoleScene()
    await scene.ask('Hello')
  })
  after(async () => {
    await scene[Symbol.asyncDispose]()
    await browser.close()
  })

  it('shows who changed what, and no requests', async () => {
    await using open = await openPage(browser)
    const { page } = open
    await scene.signIn(page)
    await page.getByRole('link', { name: 'Audit' }).click()
    const published = page.getByRole('row').filter({ hasText: 'policy.published' })
    await published.getByText('First administrator key').waitFor()
    await published.getByText('Published the policy No code names').waitFor()
    assert.equal(await page.getByRole('row').filter({ hasText: 'gateway.request.decided' }).count(), 0)
    assert.deepEqual(await accessibilityViolations(page), [])
    await published.getByRole('link').click()
    const event = page.getByRole('complementary', { name: 'Event' })
    await event.getByText('1 → 2').waitFor()
    await event
      .getByText(/falcon/)
      .first()
      .waitFor()
    assert.deepEqual(await accessibilityViolations(page), [])
    await page.keyboard.press('Escape')
    await event.waitFor({ state: 'detached' })
    assert.deepEqual(open.errors, [])
  })

  it('says what happened to which object, without cutting it off at 1280 pixels', async () => {
    await using open = await openPage(browser, { viewport: { width: 1_280, height: 800 } })
    const { page } = open
    await scene.openAt(page, '/audit')
    for (const text of [
      'Created the policy No code names',
      'Published the policy No code names',
      'Signed in to the console',
      'Created a sign-in link for First administrator key',
    ]) {
      const cell = page.getByRole('cell', { name: text, exact: true }).first()
      await cell.waitFor()
      assert.ok(await cell.evaluate((node) => node.scrollWidth <= node.clientWidth), text)
    }
    assert.equal(await page.getByRole('cell', { name: /adk_|pol_/ }).count(), 0)
  })

  it('saves a file that verifies itself without the server, and says so if it was changed', async () => {
    await using open = await openPage(browser, { acceptDownloads: true })
    const { page } = open
    await scene.openAt(page, '/audit')
    await page.getByRole('button', { name: 'Export' }).click()
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('menuitem', { name: 'All events with proof (HTML)' }).click(),
    ])
    assert.match(download.suggestedFilename(), /^audit-proof-1-\d+\.html$/)
    await using folder = await temporaryFolder()
    const file = join(folder.path, 'proof.html')
    await download.saveAs(file)

    await using offline = await openPage(browser, { offline: true })
    await offline.page.goto(pathToFileURL(file).href)
    await offline.page.getByRole('heading', { name: /Whole and signed\.|Not signed yet\./ }).waitFor()
    await offline.page.getByText(/ created the policy pol_/).waitFor()
    assert.equal(await offline.page.getByText('gateway.request.decided').count(), 0)
    await offline.page.getByLabel('Search').fill('policy.published')
    await offline.page.getByText(/^1 of \d+ events$/).waitFor()
    await offline.page.getByText(/ published the policy pol_/).click()
    await offline.page.getByText('"event_code": "policy.published"').waitFor()
    assert.deepEqual(await accessibilityViolations(offline.page), [])
    assert.deepEqual(offline.errors, [])

    const html = readFileSync(file, 'utf8')
    writeFileSync(file, html.replace('"policy.published"', '"policy.discarded"'))
    await offline.page.goto(pathToFileURL(file).href)
    await offline.page.getByRole('heading', { name: 'Not whole.' }).waitFor()
    await offline.page.getByText(/Event \d+ was changed: it does not match its fingerprint\./).waitFor()
    writeFileSync(file, html.slice(0, html.indexOf('id="events"') + 200))
    await offline.page.goto(pathToFileURL(file).href)
    await offline.page.getByText(/the file is incomplete/).waitFor()
  })

  it('keeps kind, key and the open event in the address', async () => {
    await using open = await openPage(browser)
    const { page } = open
    await scene.openAt(page, '/audit')
    await page.getByLabel('Kind').selectOption('policy.created')
    await page.waitForURL(/event_kind=policy\.created/)
    await page.getByRole('row').filter({ hasText: 'policy.published' }).waitFor({ state: 'detached' })
    await page.getByRole('row').nth(1).getByRole('link').click()
    await page.waitForURL(/audit\/evt_\w+\?.*event_kind=policy\.created/)
    await page
      .getByRole('complementary', { name: 'Event' })
      .getByRole('link', { name: 'First administrator key' })
      .click()
    await page.waitForURL(/actor_id=adk_/)
    assert.equal(await page.getByLabel('Who').locator('option:checked').textContent(), 'First administrator key')
    await scene.openAt(page, '/audit?actor_id=adk_nobody')
    await page.getByText('No events match these filters').waitFor()
    await page.getByRole('button', { name: 'Clear filters' }).click()
    await page.getByRole('row').filter({ hasText: 'policy.published' }).waitFor()
  })

  it('is filtered by the names of people and objects', async () => {
    await using open = await openPage(browser)
    const { page } = open
    await scene.openAt(page, '/audit')
    await page.getByLabel('Object').selectOption({ label: 'No code names' })
    await page.waitForURL(/policy_id=pol_/)
    await page.getByRole('row').filter({ hasText: 'Signed in' }).first().waitFor({ state: 'detached' })
    await page.getByRole('cell', { name: 'Published the policy No code names' }).waitFor()
    await page.getByLabel('Who').selectOption({ label: 'First administrator key' })
    await page.waitForURL(/actor_id=adk_/)
    await page.getByLabel('Who').selectOption({ label: 'Anybody' })
    await page.getByLabel('Object').selectOption({ label: 'First administrator key' })
    await page.waitForURL(/resource_id=adk_/)
    await page.getByRole('row').filter({ hasText: 'Published the policy' }).waitFor({ state: 'detached' })
    const linked = page.getByRole('row').filter({ hasText: 'Created a sign-in link' }).first()
    await linked.getByRole('link').click()
    await page.getByRole('link', { name: 'All its events' }).waitFor()
    assert.deepEqual(await accessibilityViolations(page), [])
    assert.deepEqual(open.errors, [])
  })

  it('shows the values before and after a change, and leads to the object', async () => {
    const admin = { authorization: `Bearer ${scene.adminKey}`, 'content-type': 'application/json' }
    const path = `${scene.url}/v1/organization/policies/${scene.policyId}`
    const { revision } = (await (await fetch(path, { headers: admin })).json()) as { revision: number }
    const body = JSON.stringify({ revision, description: 'Code names stay inside.' })
    assert.equal((await fetch(path, { method: 'PATCH', headers: admin, body })).status, 200)
    await using open = await openPage(browser)
    const { page } = open
    await scene.openAt(page, '/audit?event_kind=policy.updated')
    await page.getByRole('row').nth(1).getByRole('link').click()
    const event = page.getByRole('complementary', { name: 'Event' })
    await event.getByRole('row', { name: /description.*Code names stay inside\./ }).waitFor()
    await event.getByRole('columnheader', { name: 'Before' }).waitFor()
    assert.deepEqual(await accessibilityViolations(page), [])
    await event.getByRole('link', { name: 'No code names' }).click()
    await page.getByRole('heading', { name: 'No code names' }).waitFor()
  })

  it('shows the keys of checkpoints, and the commands that verify the log', async () => {
    await using open = await openPage(browser)
    const { page } = open
    await scene.openAt(page, '/audit?view=verify')
    await page.getByText('BEGIN PUBLIC KEY').first().waitFor()
    await page.getByText('gatehouse audit verify', { exact: true }).first().waitFor()
    assert.deepEqual(await accessibilityViolations(page), [])
  })

  it('verifies the log, with its progress and its result', async () => {
    await using open = await openPage(browser)
    const { page } = open
    await scene.openAt(page, '/audit?view=verify')
    await page.getByText('The log was not verified here yet.').waitFor()
    await page.getByRole('button', { name: 'Verify the whole log' }).click()
    await page.getByText(/\d+ events, all unchanged\./).waitFor()
    assert.deepEqual(await accessibilityViolations(page), [])
    assert.deepEqual(open.errors, [])
  })

  it('shows the progress of a verification, and the first event that is bad', async () => {
    await using open = await openPage(browser)
    const { page } = open
    await scene.signIn(page)
    const verification = { id: 'aver_1', checked: 300, total: 1_000, created_at: 1_767_225_600 }
    const bad = { part: 'event', sequence: 301, reason: 'altered' }
    const states = [
      { ...verification, state: 'running' },
      { ...verification, state: 'completed', is_whole: false, first_bad: bad },
    ]
    await page.route('**/audit_logs/verify?*', (route) =>
      route.fulfill({ json: { object: 'list', data: [states.length > 1 ? states.shift() : states[0]] } }),
    )
    await page.goto(`${scene.url}/console/audit?view=verify`)
    await page.getByText('300 of 1,000 events').waitFor()
    await page.getByText('the log was damaged. Event 301 was altered.').waitFor()
    assert.deepEqual(await accessibilityViolations(page), [])
  })

  it('says which events were archived and where, and nothing if none was', async () => {
    await using open = await openPage(browser)
    const { page } = open
    await scene.openAt(page, '/audit')
    await page.getByRole('row').filter({ hasText: 'policy.published' }).waitFor()
    assert.equal(await page.getByText('were archived').count(), 0)
    const oldest = { id: 'aarc_1', day: '2026-01-01', first_sequence: 1, last_sequence: 900, target: 'folder' }
    const newest = { id: 'aarc_2', day: '2026-03-31', first_sequence: 9_000, last_sequence: 12_345, target: 's3' }
    await page.route('**/audit_logs/archive?*', (route) => {
      const data = [route.request().url().includes('order=asc') ? oldest : newest]
      return route.fulfill({ json: { object: 'list', data } })
    })
    await page.goto(`${scene.url}/console/audit`)
    const note = 'Events 1 to 12,345 (2026-01-01 to 2026-03-31) were archived before the log removed them.'
    await page.getByText(`${note} They are in an S3 bucket.`).waitFor()
    assert.deepEqual(await accessibilityViolations(page), [])
  })

  it('says which permission a key lacks', async () => {
    const admin = { authorization: `Bearer ${scene.adminKey}` }
    const body = { name: 'no auditor', permissions: ['usage:read'] }
    const made = await scene.post('/v1/organization/admin_api_keys', body, admin)
    const { value } = (await made.json()) as { value: string }
    await using open = await openPage(browser)
    const { page } = open
    await page.goto(`${scene.url}/console/audit`)
    await page.getByLabel('Administrator key').fill(value)
    await page.keyboard.press('Enter')
    await page.getByText('You need audit:read to see this.').waitFor()
    const menu = page.getByRole('navigation', { name: 'Pages' })
    await menu.getByRole('link', { name: 'Limits and credits' }).waitFor()
    assert.equal(await menu.getByRole('link', { name: 'Audit' }).count(), 0)
    await page.keyboard.press('Control+k')
    await page.getByRole('combobox').fill('audit')
    assert.equal(await page.getByRole('option', { name: /^Audit/ }).count(), 0)
    assert.deepEqual(await accessibilityViolations(page), [])
  })

  it('fits in 390 pixels and in both themes', async () => {
    for (const colorScheme of ['light', 'dark'] as const) {
      await using open = await openPage(browser, { colorScheme, viewport: { width: 390, height: 844 } })
      const { page } = open
      await scene.openAt(page, '/audit')
      await page.getByRole('row').nth(1).getByRole('link').focus()
      await page.keyboard.press('Enter')
      await page.getByRole('complementary', { name: 'Event' }).getByText('Fingerprint').waitFor()
      assert.deepEqual(await accessibilityViolations(page), [], colorScheme)
      assert.equal(await page.evaluate('document.documentElement.scrollWidth'), 390)
    }
  })
})
