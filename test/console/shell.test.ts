import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Browser } from 'playwright-core'
import { accessibilityViolations, launchBrowser, openPage, withoutBrowser } from '../support/browser.ts'
import { openConsoleScene } from '../support/console-scene.ts'

describe('the frame of the console', { skip: withoutBrowser }, () => {
  let browser: Browser
  before(async () => void (browser = await launchBrowser()))
  after(() => browser.close())

  it('waits and tries again, without a word, when it is over the limit of the server', async () => {
    await using scene = await openConsoleScene()
    await using open = await openPage(browser)
    const { page } = open
    await scene.signIn(page)
    let rejected = 0
    await page.route('**/v1/organization/policies?**', async (route) => {
      if (rejected++ > 0) return route.continue()
      const error = { code: 'rate_limit_exceeded', message: 'Too many requests.' }
      return route.fulfill({ status: 429, headers: { 'retry-after': '1' }, json: { error } })
    })
    await page.getByRole('link', { name: 'Policies' }).click()
    await page.getByRole('link', { name: 'No code names' }).waitFor()
    assert.ok(rejected > 1)
    assert.equal(await page.getByRole('alert').count(), 0)
  })

  it('counts what needs attention in the top bar, and leads to it', async () => {
    await using scene = await openConsoleScene()
    const admin = { authorization: `Bearer ${scene.adminKey}` }
    const expiry = Math.floor(Date.now() / 1_000) + 3_600
    await scene.post(
      `/v1/organization/projects/${scene.projectId}/api_keys`,
      { name: 'Nightly', expires_at: expiry },
      admin,
    )
    await using open = await openPage(browser)
    const { page } = open
    await scene.signIn(page)
    await page.getByRole('link', { name: 'The key Nightly expires within a day', exact: true }).waitFor()
    await page.getByRole('link', { name: 'Policies' }).click()
    await page.getByRole('button', { name: 'Attention: 1' }).click()
    const item = page.getByRole('menuitem', { name: 'The key Nightly expires within a day' })
    await item.waitFor()
    assert.deepEqual(await accessibilityViolations(page), [])
    await item.click()
    await page.getByRole('dialog', { name: 'Edit Nightly' }).waitFor()
    assert.deepEqual(open.errors, [])
  })

  it('counts the same items in the bell and on the overview, without those that can wait', async () => {
    await using scene = await openConsoleScene()
    const admin = { authorization: `Bearer ${scene.adminKey}` }
    for (const [name, days] of [
      ['Soon', 2.5],
      ['Later', 6.5],
    ] as const) {
      const expiry = Math.floor(Date.now() / 1_000 + days * 86_400)
      await scene.post(`/v1/organization/projects/${scene.projectId}/api_keys`, { name, expires_at: expiry }, admin)
    }
    await using open = await openPage(browser)
    const { page } = open
    await scene.signIn(page)
    await page.getByRole('link', { name: 'The key Later expires in 6 days', exact: true }).waitFor()
    const card = page.locator('section').filter({ has: page.getByRole('heading', { name: 'Attention' }) })
    assert.equal(await card.last().locator('header').innerText(), 'Attention\n1')
    await page.getByRole('button', { name: 'Attention: 1' }).waitFor()
  })

  it('keeps space for the menus of the top bar, so that the search does not move', async () => {
    await using scene = await openConsoleScene()
    for (const width of [1_280, 390]) {
      await using open = await openPage(browser, { viewport: { width, height: 800 } })
      const { page } = open
      await scene.signIn(page)
      let release = (): void => undefined
      const isReleased = new Promise<void>((resolve) => (release = resolve))
      await page.route('**/assets/top-menus-*.js', async (route) => {
        await isReleased
        await route.continue()
      })
      await page.goto(`${scene.url}/console/policies`)
      const search = page.getByRole('button', { name: /Search or paste an id/ })
      const place = await search.boundingBox()
      assert.equal(await page.getByRole('button', { name: 'Theme' }).count(), 0)
      release()
      await page.getByRole('button', { name: 'Theme' }).waitFor()
      assert.deepEqual(await search.boundingBox(), place)
    }
  })

  it('finds names, ids of every kind, and actions with Ctrl K', async () => {
    await using scene = await openConsoleScene()
    await using open = await openPage(browser)
    const { page } = open
    await scene.signIn(page)
    const search = async (text: string): Promise<void> => {
      await page.keyboard.press('Control+k')
      await page.getByRole('dialog', { name: 'Search or paste an id' }).getByRole('combobox').fill(text)
    }
    await search('code nam')
    await page.getByRole('option', { name: /No code names.*Policy/ }).waitFor()
    assert.deepEqual(await accessibilityViolations(page), [])
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'No code names' }).waitFor()
    const headers = { authorization: `Bearer ${scene.adminKey}` }
    const listed = await fetch(`${scene.url}/v1/organization/api_keys`, { headers })
    const [key] = ((await listed.json()) as { data: { id: string; name: string }[] }).data
    await search(key?.id ?? '')
    await page.keyboard.press('Enter')
    await page.getByRole('dialog', { name: `Edit ${key?.name}` }).waitFor()
    await page.keyboard.press('Escape')
    await search(scene.projectId)
    await page.keyboard.press('Enter')
    await page.waitForURL(new RegExp(`project_id=${scene.projectId}`))
    const events = await fetch(`${scene.url}/v1/organization/audit_logs?kind=policy.published`, { headers })
    const [event] = ((await events.json()) as { data: { id: string }[] }).data
    await search(event?.id ?? '')
    await page.keyboard.press('Enter')
    await page.waitForURL(new RegExp(`audit/${event?.id}`))
    await search('dark theme')
    await page.keyboard.press('Enter')
    assert.equal(await page.evaluate('document.documentElement.dataset.theme'), 'dark')
    await page.getByRole('button', { name: 'Theme' }).click()
    await page.getByRole('menuitemradio', { name: 'Dark', checked: true }).waitFor()
    await page.keyboard.press('Escape')
    // A menu keeps the keys until it is closed.
    await page.getByRole('menu').waitFor({ state: 'detached' })
    await search('new pol')
    await page.keyboard.press('Enter')
    await page.waitForURL(/policies\?create=blank/)
    await page.getByRole('dialog', { name: 'New policy' }).waitFor()
    await page.keyboard.press('Escape')
    const sessions = await fetch(`${scene.url}/v1/organization/sign_ins`, { headers })
    const [session] = ((await sessions.json()) as { data: { id: string }[] }).data
    await search(session?.id ?? '')
    await page.keyboard.press('Enter')
    await page.getByRole('dialog', { name: /^End/ }).waitFor()
    await page.keyboard.press('Escape')
    const invitation = { name: 'Ada', email: 'ada@example.com', role: 'auditor' }
    const invited = await scene.post('/v1/organization/members', invitation, headers)
    const { id: memberId } = (await invited.json()) as { id: string }
    await search(memberId)
    await page.keyboard.press('Enter')
    await page.getByRole('dialog', { name: /Ada/ }).waitFor()
    assert.deepEqual(open.errors, [])
  })
})
