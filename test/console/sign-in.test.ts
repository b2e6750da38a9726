import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Browser } from 'playwright-core'
import { accessibilityViolations, launchBrowser, openPage, withoutBrowser } from '../support/browser.ts'
import { openConsoleScene, type ConsoleScene } from '../support/console-scene.ts'

describe('signing in with a browser', { skip: withoutBrowser }, () => {
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

  it('takes the token out of the address and shows the overview', async () => {
    await using open = await openPage(browser)
    await scene.signIn(open.page)
    assert.match(open.page.url(), /\/console\/overview$/)
    assert.deepEqual(open.errors, [])
  })

  it('accepts a key, and names no part of a wrong one', async () => {
    await using open = await openPage(browser)
    const { page } = open
    await page.goto(`${scene.url}/console/requests`)
    await page.getByLabel('Administrator key').fill('adm_wrong')
    assert.deepEqual(await accessibilityViolations(page), [])
    await page.keyboard.press('Enter')
    await page.getByRole('alert').getByText('This did not work').waitFor()
    await page.getByLabel('Administrator key').fill(scene.adminKey)
    await page.keyboard.press('Enter')
    await page.getByRole('region', { name: 'Requests' }).waitFor()
    assert.match(page.url(), /\/console\/requests$/)
  })

  it('says that a link was used before', async () => {
    await using open = await openPage(browser)
    await open.page.goto(`${scene.url}/console/#start=used`)
    await open.page.getByText('This link was used before').waitFor()
  })

  it('asks again over the page when the session ends, and the page stays as it is', async () => {
    await using open = await openPage(browser)
    const { page } = open
    await scene.openAt(page, '/requests')
    await page.getByLabel(/^Search, or/).fill('model:kept')
    // The bell is loaded last. Without a cookie its first call would open the dialog before the click.
    await page.getByRole('button', { name: /^Attention/ }).waitFor()
    await page.context().clearCookies()
    // A request in the background may open the dialog first, which would keep the pointer from the button.
    await page.getByRole('button', { name: 'Reload' }).dispatchEvent('click')
    const dialog = page.getByRole('dialog', { name: 'Sign in again' })
    await dialog.getByLabel('Administrator key').fill(scene.adminKey)
    await page.keyboard.press('Enter')
    await dialog.waitFor({ state: 'hidden' })
    assert.equal(await page.getByLabel(/^Search, or/).inputValue(), 'model:kept')
  })

  it('signs out on the server', async () => {
    await using open = await openPage(browser)
    const { page } = open
    await scene.signIn(page)
    const [cookie] = await page.context().cookies()
    await page.getByRole('button', { name: /administrator key/i }).click()
    await page.getByRole('menuitem', { name: 'Sign out' }).click()
    await page.locator('input[name="key"]').waitFor() // the closing menu has the label of the key, too
    const replay = await scene.get('/v1/organization/me', { cookie: `${cookie?.name}=${cookie?.value}` })
    assert.equal(replay.status, 401)
  })
})
