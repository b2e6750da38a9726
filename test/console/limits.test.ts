import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { readFileSync } from 'node:fs'
import type { Browser, Download, Page } from 'playwright-core'
import { accessibilityViolations, launchBrowser, openPage, withoutBrowser } from '../support/browser.ts'
import { openConsoleScene, type ConsoleScene } from '../support/console-scene.ts'

const config = {
  limits: {},
  upstreams: [{ name: 'echo', kind: 'echo' }],
  models: [{ name: 'gatehouse-echo', targets: [{ upstream: 'echo' }], price: { input: 1000, output: 1000 } }],
}

describe('limits and credits in the console', { skip: withoutBrowser }, () => {
  let browser: Browser
  let scene: ConsoleScene
  before(async () => {
    browser = await launchBrowser()
    scene = await openConsoleScene({ config })
    await scene.ask('Hello')
  })
  after(async () => {
    await scene[Symbol.asyncDispose]()
    await browser.close()
  })

  const openView = async (page: Page, view = ''): Promise<void> => {
    await scene.openAt(page, `/limits${view}`)
  }

  it('say who spends most in one click', async () => {
    await using open = await openPage(browser)
    const { page } = open
    await scene.signIn(page)
    await page.getByRole('link', { name: 'Limits and credits' }).click()
    await page.getByText(/^Default project spends most: \$0\.0/).waitFor()
    assert.deepEqual(await accessibilityViolations(page), [])
    await page.getByRole('link', { name: 'Model', exact: true }).click()
    await page.getByText(/^gatehouse-echo spends most/).waitFor()
    assert.match(page.url(), /by=model/)
    assert.deepEqual(open.errors, [])
  })

  it('grant credits, and take them back with the reason of the server if it refuses', async () => {
    await using open = await openPage(browser)
    const { page } = open
    await openView(page)
    await page.getByRole('button', { name: 'Grant credits' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Credits').fill('5000')
    await dialog.getByLabel('Reference').fill('invoice-7')
    assert.deepEqual(await accessibilityViolations(page), [])
    await dialog.getByText('curl and command line').click()
    await dialog.getByText('gatehouse credits grant 5000 --ref "invoice-7"').waitFor()
    await dialog.getByRole('button', { name: 'Grant 5000 credits' }).click()
    await dialog.waitFor({ state: 'hidden' })
    await page.getByRole('link', { name: 'Ledger' }).click()
    await page.getByRole('row', { name: /Grant \+5,000 invoice-7/ }).waitFor()
    await page.getByRole('link', { name: 'Spending' }).click()
    await page.getByRole('button', { name: 'Correct balance' }).click()
    await dialog.getByLabel('Credits').fill('9000000')
    await dialog.getByRole('button', { name: 'Remove 9000000 credits' }).click()
    await dialog
      .getByRole('alert')
      .getByText(/credits can be taken back now/)
      .waitFor()
  })

  it('set a limit for a key, show how much of it is used, and restore the limits of the tier', async () => {
    await using open = await openPage(browser)
    const { page } = open
    await openView(page, '?view=limits')
    await page.getByText('None. The limits of the tier apply.').waitFor()
    await page.getByRole('button', { name: 'Set limits' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('For').selectOption({ label: 'First policy gateway key' })
    await dialog.getByLabel('Requests per day').fill('4')
    await dialog.getByText('Only this key is affected.').waitFor()
    assert.deepEqual(await accessibilityViolations(page), [])
    await dialog.getByRole('button', { name: 'Apply limits' }).click()
    await page.getByRole('cell', { name: 'Requests per day: 4' }).waitFor()
    await scene.ask('Hello again')
    await page.reload()
    const closest = page.getByRole('region', { name: 'Closest to a limit' })
    await closest.getByRole('cell', { name: '50.0%' }).waitFor()
    await closest.getByRole('link').click()
    await page.waitForURL(/api_key_id=key_/)
    await page.getByText('2 of 4').waitFor()
    assert.deepEqual(await accessibilityViolations(page), [])
    await page.getByRole('button', { name: 'Remove' }).click()
    await dialog.getByRole('button', { name: 'Restore the limits of the tier' }).click()
    await page.getByText('None. The limits of the tier apply.').waitFor()
  })

  it('tell before it is sent whether a request would be admitted', async () => {
    await using open = await openPage(browser)
    const { page } = open
    await openView(page, '?view=limits')
    await page.getByLabel('Project').nth(1).selectOption({ label: 'Default project' })
    await page.getByLabel('Model').fill('nobody-has-this')
    await page.getByRole('button', { name: 'Check', exact: true }).click()
    await page
      .getByRole('alert')
      .getByText(/must name a model/)
      .waitFor()
    await page.getByLabel('Model').fill('gatehouse-echo')
    await page.getByRole('button', { name: 'Check', exact: true }).click()
    await page.getByText('The request would be admitted.').waitFor()
    await page.getByLabel('Input tokens').fill('50000')
    await page.getByRole('button', { name: 'Check', exact: true }).click()
    await page.getByText('not enough credits').waitFor()
  })

  it('list the charge of a request in the ledger, with its kind in the address', async () => {
    const requestId = await scene.ask('Charge me')
    await using open = await openPage(browser)
    const { page } = open
    await openView(page, '?view=ledger')
    await page.getByRole('link', { name: requestId }).waitFor()
    await page.getByLabel('Kind').selectOption('Grant')
    await page.waitForURL(/kind=grant/)
    await page.getByRole('link', { name: requestId }).waitFor({ state: 'detached' })
    await page.getByLabel('Kind').selectOption('All kinds')
    await page.getByRole('link', { name: requestId }).click()
    await page.waitForURL(new RegExp(`requests/${requestId}`))
  })

  it('save usage and the ledger as CSV', async () => {
    const requestId = await scene.ask('Charge me for the file')
    await using open = await openPage(browser)
    const { page } = open
    await openView(page, '?by=model')
    const usage = page.waitForEvent('download')
    await page.getByRole('button', { name: 'Export CSV' }).click()
    assert.equal((await usage).suggestedFilename(), 'usage-by-model.csv')
    assert.match(await textOf(await usage), /^start_time,end_time,.*cost_usd\r\n.*gatehouse-echo/s)
    await openView(page, '?view=ledger')
    await page.getByRole('button', { name: 'Export' }).click()
    const ledger = page.waitForEvent('download')
    await page.getByRole('menuitem', { name: /^CSV/ }).click()
    assert.equal((await ledger).suggestedFilename(), 'ledger.csv')
    assert.ok((await textOf(await ledger)).includes(requestId))
    assert.deepEqual(open.errors, [])
  })

  it('say why a key without credits:write can change nothing', async () => {
    const body = { name: 'reader', permissions: ['usage:read', 'keys:read', 'projects:read'] }
    const admin = { authorization: `Bearer ${scene.adminKey}` }
    const made = await scene.post('/v1/organization/admin_api_keys', body, admin)
    const { value } = (await made.json()) as { value: string }
    await using open = await openPage(browser)
    const { page } = open
    await page.goto(`${scene.url}/console/limits`)
    await page.getByLabel('Administrator key').fill(value)
    await page.keyboard.press('Enter')
    await page.getByText('You need the permission credits:write.').waitFor()
    assert.ok(await page.getByRole('button', { name: 'Grant credits' }).isDisabled())
    await page.getByRole('link', { name: 'Limits', exact: true }).click()
    assert.ok(await page.getByRole('button', { name: 'Set limits' }).isDisabled())
  })

  it('fit in 390 pixels and in both themes', async () => {
    for (const colorScheme of ['light', 'dark'] as const) {
      await using open = await openPage(browser, { colorScheme, viewport: { width: 390, height: 844 } })
      const { page } = open
      await scene.signIn(page)
      for (const [view, shown] of [
        ['', 'Spent per day'],
        ['?view=limits', 'Closest to a limit'],
        ['?view=ledger', 'gatehouse ledger verify'],
      ] as const) {
        await page.goto(`${scene.url}/console/limits${view}`)
        await page.getByText(shown).first().waitFor()
        assert.deepEqual(await accessibilityViolations(page), [], `${colorScheme} ${view}`)
        assert.equal(await page.evaluate('document.documentElement.scrollWidth'), 390)
      }
    }
  })
})

const textOf = async (download: Download): Promise<string> => readFileSync(await download.path(), 'utf8')
