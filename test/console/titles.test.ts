import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Browser } from 'playwright-core'
import { accessibilityViolations, launchBrowser, openPage, withoutBrowser } from '../support/browser.ts'
import { openConsoleScene, type ConsoleScene } from '../support/console-scene.ts'

describe('the addresses of the console', { skip: withoutBrowser }, () => {
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

  it('name the page and the open object in the title of the tab', async () => {
    const id = await scene.ask('Hello')
    await using open = await openPage(browser)
    const { page } = open
    const titleIs = async (title: string): Promise<void> => {
      for (let at = 0; at < 50 && (await page.title()) !== title; at++) await page.waitForTimeout(100)
      assert.equal(await page.title(), title)
    }
    await scene.openAt(page, '/requests')
    await titleIs('Requests · Gatehouse')
    await page.goto(`${scene.url}/console/requests/${id}`)
    await titleIs(`${id.slice(0, 9)}…${id.slice(-6)} · Requests · Gatehouse`)
    await page.goto(`${scene.url}/console/policies/${scene.policyId}`)
    await titleIs('No code names · Policies · Gatehouse')
    await page.getByRole('link', { name: 'Overview' }).click()
    await titleIs('Overview · Gatehouse')
  })

  it('that are no page lead back to one', async () => {
    await using open = await openPage(browser)
    const { page } = open
    await scene.openAt(page, '/nowhere')
    await page.getByText('There is no page at this address').waitFor()
    assert.equal(await page.title(), 'Not found · Gatehouse')
    assert.deepEqual(await accessibilityViolations(page), [])
    await page.locator('#page').getByRole('link', { name: 'Overview' }).click()
    await page.getByRole('heading', { name: 'Health' }).waitFor()
  })

  it('of a request, policy or key that does not exist say so, without an offer to try again', async () => {
    await using open = await openPage(browser)
    const { page } = open
    await scene.openAt(page, '/requests/req_01k9z8y7x6w5v4t3s2r1q0p9n8')
    await page.getByText('It does not exist, was deleted, or belongs to another organization.').waitFor()
    assert.equal(await page.getByRole('button', { name: 'Try again' }).count(), 0)
    await page.goto(`${scene.url}/console/policies/pol_01k9z8y7x6w5v4t3s2r1q0p9n8`)
    await page.getByText('It does not exist, was deleted, or belongs to another organization.').waitFor()
    await page.goto(`${scene.url}/console/projects?dialog=edit&id=key_01k9z8y7x6w5v4t3s2r1q0p9n8`)
    const dialog = page.getByRole('dialog', { name: 'Not found' })
    await dialog.getByRole('button', { name: 'Close' }).last().click()
    await page.waitForURL(/projects$/)
    assert.deepEqual(open.errors, [])
  })

  it('show no error of an ended session behind the sign-in, nor after it', async () => {
    await using open = await openPage(browser)
    const { page } = open
    await scene.openAt(page, '/policies?create=blank')
    const dialog = page.getByRole('dialog', { name: 'New policy' })
    await dialog.getByLabel('Name').fill('Kept')
    await dialog.getByLabel('Rule').fill('cel:false')
    await page.route('**/v1/organization/policies', (route) => {
      if (route.request().method() !== 'POST') return route.continue()
      const error = { code: 'invalid_api_key', message: 'No API key was sent.' }
      return route.fulfill({ status: 401, json: { error } })
    })
    await dialog.getByRole('button', { name: /^Create/ }).click()
    const again = page.getByRole('dialog', { name: 'Sign in again' })
    await again.waitFor()
    assert.equal(await page.getByText('No API key was sent').count(), 0)
    await again.getByLabel('Administrator key').fill(scene.adminKey)
    await page.keyboard.press('Enter')
    await again.waitFor({ state: 'detached' })
    assert.equal(await dialog.getByLabel('Name').inputValue(), 'Kept')
    assert.equal(await page.getByText('invalid_api_key').count(), 0)
  })

  it('are left by Escape from the menu of a small screen, whose ids can be copied without hovering', async () => {
    const id = await scene.ask('Hello')
    await using open = await openPage(browser, { viewport: { width: 390, height: 844 } })
    const { page } = open
    await scene.openAt(page, `/requests/${id}`)
    const copy = page.getByRole('button', { name: `Copy ${id}` })
    await copy.waitFor()
    assert.equal(await copy.evaluate((node) => node.ownerDocument.defaultView?.getComputedStyle(node).opacity), '1')
    await page.getByRole('button', { name: 'Menu' }).click()
    const pages = page.getByRole('navigation', { name: 'Pages' })
    await pages.waitFor()
    await page.keyboard.press('Escape')
    await pages.waitFor({ state: 'hidden' })
    assert.equal(await page.evaluate('document.activeElement.getAttribute("aria-label")'), 'Menu')
    for (const path of ['members', 'members?tab=signIns', 'settings']) {
      await page.goto(`${scene.url}/console/${path}`)
      await page.getByText('Loading', { exact: true }).first().waitFor({ state: 'detached' })
      assert.equal(await page.evaluate('document.documentElement.scrollWidth'), 390, path)
    }
  })
})
