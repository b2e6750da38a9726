import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { accessibilityViolations, launchBrowser, openPage, withoutBrowser } from '../support/browser.ts'
import { openConsoleScene, type ConsoleScene } from '../support/console-scene.ts'

describe('finding requests in the console', { skip: withoutBrowser }, () => {
  let browser: Browser
  let scene: ConsoleScene
  before(async () => {
    browser = await launchBrowser()
    scene = await openConsoleScene()
    const ben = { metadata: { user_id: 'ben-1002' } }
    const body = { model: 'gatehouse-echo', max_tokens: 9, messages: [{ role: 'user', content: 'Hi' }], ...ben }
    await (await scene.post('/v1/messages', body)).text()
    await scene.ask('the falcon flies')
    await scene.ask('Hello', 'no-such-model')
  })
  after(async () => {
    await scene[Symbol.asyncDispose]()
    await browser.close()
  })

  const rowsOf = (page: Page) => page.locator('tbody tr[aria-rowindex]')
  const type = async (page: Page, text: string): Promise<void> => {
    await page.getByRole('combobox', { name: /^Search, or/ }).fill(text)
    await page.keyboard.press('Enter')
  }
  /** Waits until the list has this many rows. */
  const waitForRows = async (page: Page, count: number): Promise<void> => {
    if (count > 0)
      await rowsOf(page)
        .nth(count - 1)
        .waitFor()
    await rowsOf(page).nth(count).waitFor({ state: 'detached' })
  }

  it('works by every name, typed as people say it', async () => {
    await using open = await openPage(browser)
    const { page } = open
    await scene.openAt(page, '/requests')
    await waitForRows(page, 3)
    const project = (await rowsOf(page).first().locator('td').nth(4).textContent()) ?? ''
    const key = (await rowsOf(page).first().locator('td').nth(5).textContent()) ?? ''
    const typed: [text: string, rows: number, chip: RegExp][] = [
      ['user:ben-1002', 1, /user\s*is\s*ben-1002/],
      ['policy:No code names', 1, /policy\s*is\s*No code names/],
      ['policy:"no CODE names"', 1, /policy\s*is\s*No code names/],
      ['status:denied', 1, /status\s*is\s*Denied/],
      ['-status:denied', 2, /status\s*is not\s*Denied/],
      ['status:Failed', 1, /status\s*is\s*Failed/],
      ['decision:deny', 1, /decision\s*is\s*Deny/],
      ['model:gate*', 2, /model\s*is\s*gate\*/],
      ['error:model_not_found', 1, /error\s*is\s*model_not_found/],
      [`project:${project}`, 3, /project\s*is\s*\S/],
      [`-key:${key}`, 0, /key\s*is not\s*\S/],
      ['code names', 1, /text\s*code names/],
    ]
    for (const [text, rows, chip] of typed) {
      await type(page, text)
      await page.locator('span', { hasText: chip }).first().waitFor()
      await waitForRows(page, rows)
      await page.getByRole('button', { name: /^Remove filter/ }).click()
      await waitForRows(page, 3)
    }
    assert.deepEqual(open.errors, [])
  })

  it('says which names are near an unknown one', async () => {
    await using open = await openPage(browser)
    const { page } = open
    await scene.openAt(page, '/requests')
    await waitForRows(page, 3)
    await type(page, 'policy:No coed names')
    await page.getByRole('alert').getByText('There is no policy “No coed names”.').waitFor()
    assert.deepEqual(await accessibilityViolations(page), [])
    await page.getByRole('alert').getByRole('button', { name: 'No code names' }).click()
    await waitForRows(page, 1)
    await type(page, 'colour:red')
    await page.getByText(/There is no filter colour/).waitFor()
  })

  it('works by a menu: a field, is or is not, a value with search; chips switch and go', async () => {
    await using open = await openPage(browser)
    const { page } = open
    await scene.openAt(page, '/requests')
    await waitForRows(page, 3)
    await page.getByRole('button', { name: 'Add filter' }).click()
    assert.deepEqual(await accessibilityViolations(page), [])
    await page.getByRole('button', { name: 'model', exact: true }).click()
    await page.getByRole('button', { name: 'is not' }).click()
    await page.getByRole('textbox', { name: 'Search values: model' }).fill('such')
    assert.deepEqual(await accessibilityViolations(page), [])
    await page.getByRole('dialog').getByRole('button', { name: 'no-such-model', exact: true }).click()
    await page.waitForURL(/not_model=no-such-model/)
    await waitForRows(page, 2)
    await page.getByRole('button', { name: 'Filter model: switch to “is”' }).click()
    await page.waitForURL(/[?&]model=no-such-model/)
    await waitForRows(page, 1)
    await page.getByRole('button', { name: 'Remove filter: model' }).click()
    await waitForRows(page, 3)
  })

  it('works by a click on a cell, which Alt turns into its opposite', async () => {
    await using open = await openPage(browser)
    const { page } = open
    await scene.openAt(page, '/requests')
    await waitForRows(page, 3)
    await page.getByRole('cell', { name: 'No code names' }).getByRole('button').click()
    await waitForRows(page, 1)
    await page.goBack()
    await waitForRows(page, 3)
    await page
      .getByRole('cell', { name: 'ben-1002' })
      .getByRole('button')
      .click({ modifiers: ['Alt'] })
    await page.waitForURL(/not_user_id=ben-1002/)
    await waitForRows(page, 2)
  })

  it('shows last Tuesday after two clicks, or in words, and names the range and the zone', async () => {
    await using open = await openPage(browser)
    const { page } = open
    await scene.openAt(page, '/requests?zone=utc')
    const range = page.getByRole('button', { name: /Last 24 hours\s*UTC/ })
    await range.click()
    assert.deepEqual(await accessibilityViolations(page), [])
    const day = 86_400
    const today = Math.floor(Date.now() / 1000 / day)
    const weekday = (today + 4) % 7
    const tuesday = today - ((weekday - 2 + 7) % 7 || 7)
    const label = new Intl.DateTimeFormat('en-US', {
      weekday: 'long',
      day: 'numeric',
      month: 'long',
      year: 'numeric',
      timeZone: 'UTC',
    }).format(tuesday * day * 1000)
    const button = page.getByRole('button', { name: label })
    if ((await button.count()) === 0) await page.getByRole('button', { name: 'Previous month' }).click()
    await button.click()
    const address = new RegExp(`from=${tuesday * day}&to=${(tuesday + 1) * day}`)
    await page.waitForURL(address)
    await page.goto(`${scene.url}/console/requests?zone=utc`)
    await range.click()
    await page.getByRole('textbox', { name: 'Range in words' }).fill('last Tuesday')
    await page.keyboard.press('Enter')
    await page.waitForURL(address)
    await page.getByRole('link', { name: 'Audit' }).click()
    await page.waitForURL(address)
    await page.waitForURL(/zone=utc/)
  })

  it('shows times in UTC or in the zone of the browser, and says which', async () => {
    await using open = await openPage(browser, { timezoneId: 'Asia/Tokyo' })
    const { page } = open
    await scene.openAt(page, '/requests')
    await page.getByRole('columnheader', { name: /Time GMT\+9/ }).waitFor()
    const local = await rowsOf(page).first().getByRole('button').first().textContent()
    await page.getByRole('button', { name: /Last 24 hours/ }).click()
    await page.getByRole('button', { name: 'Local time (Asia/Tokyo)' }).waitFor()
    await page.getByRole('button', { name: 'UTC', exact: true }).click()
    await page.waitForURL(/zone=utc/)
    await page.getByRole('columnheader', { name: 'Time UTC' }).waitFor()
    assert.notEqual(await rowsOf(page).first().getByRole('button').first().textContent(), local)
  })

  it('narrows the range by dragging over the chart or with the keyboard, and goes back', async () => {
    await using open = await openPage(browser)
    const { page } = open
    await scene.openAt(page, '/requests')
    const brush = page.getByRole('slider', { name: 'Choose a time range in the chart' })
    const box = await brush.boundingBox()
    assert.ok(box)
    await page.mouse.move(box.x + box.width * 0.25, box.y + 10)
    await page.mouse.down()
    await page.mouse.move(box.x + box.width * 0.5, box.y + 10, { steps: 4 })
    await page.mouse.up()
    await page.waitForURL(/from=\d+&to=\d+/)
    const search = new URL(page.url()).searchParams
    const hours = (Number(search.get('to')) - Number(search.get('from'))) / 3_600
    assert.ok(hours >= 5 && hours <= 9, `${hours} hours`)
    assert.deepEqual(await accessibilityViolations(page), [])
    await page.getByRole('button', { name: 'Back to Last 24 hours' }).click()
    await page.getByRole('button', { name: /^Last 24 hours/ }).waitFor()
    await brush.focus()
    for (const key of ['ArrowLeft', 'Shift+ArrowLeft', 'Shift+ArrowLeft', 'Enter']) await page.keyboard.press(key)
    await page.waitForURL(/from=\d+&to=\d+/)
    const chosen = new URL(page.url()).searchParams
    assert.equal(Number(chosen.get('to')) - Number(chosen.get('from')), 3 * 3_600)
    await page.getByRole('button', { name: 'Back to Last 24 hours' }).waitFor()
    await brush.focus()
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: /^Last 24 hours/ }).waitFor()
  })

  it('says how many requests there are', async () => {
    await using open = await openPage(browser)
    const { page } = open
    await scene.openAt(page, '/requests')
    await page.locator('footer').getByText('3 requests').waitFor()
  })

  it('does not fill the history while one moves through requests', async () => {
    await using open = await openPage(browser)
    const { page } = open
    await scene.openAt(page, '/requests')
    await waitForRows(page, 3)
    for (const key of ['j', 'j', 'j', 'k']) {
      const address = page.url()
      await page.keyboard.press(key)
      await page.waitForURL(({ href }) => href !== address)
    }
    await page.goBack()
    await page.waitForURL(/\/requests(\?|$)/)
  })
})

describe('saved views in the console', { skip: withoutBrowser }, () => {
  let browser: Browser
  let scene: ConsoleScene
  before(async () => {
    browser = await launchBrowser()
    scene = await openConsoleScene()
    await scene.ask('the falcon flies')
  })
  after(async () => {
    await scene[Symbol.asyncDispose]()
    await browser.close()
  })

  const save = async (page: Page, name: string, isShared: boolean): Promise<void> => {
    await page.getByRole('button', { name: 'Views' }).click()
    await page.getByRole('menuitem', { name: 'Save this view' }).click()
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill(name)
    if (isShared) await page.getByRole('checkbox', { name: /^Share with everybody/ }).check()
    assert.deepEqual(await accessibilityViolations(page), [])
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByRole('button', { name: `View: ${name}` }).waitFor()
  }

  it('are seen by a second person if they are shared, with filters, columns and range', async () => {
    await using open = await openPage(browser)
    await scene.openAt(
      open.page,
      '/requests?status=denied&not_model=other&columns=decision&from=1767225600&to=1767229200',
    )
    await save(open.page, 'That hour', true)
    await open.page.goto(`${scene.url}/console/requests?status=ok`)
    await save(open.page, 'Only mine', false)

    const admin = { authorization: `Bearer ${scene.adminKey}` }
    const made = await scene.post(
      '/v1/organization/admin_api_keys',
      { name: 'second', permissions: ['audit:read'] },
      admin,
    )
    const { value } = (await made.json()) as { value: string }
    await using other = await openPage(browser)
    const { page } = other
    await page.goto(`${scene.url}/console/requests`)
    await page.getByLabel('Administrator key').fill(value)
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'Views' }).click()
    assert.equal(await page.getByRole('menuitem', { name: 'Only mine' }).count(), 0)
    await page.getByRole('menuitem', { name: 'That hour' }).click()
    for (const part of [/status=denied/, /not_model=other/, /columns=decision/, /from=1767225600&to=1767229200/])
      await page.waitForURL(part)
    await page.getByRole('button', { name: 'View: That hour' }).click()
    assert.equal(await page.getByRole('menuitem', { name: 'Delete That hour' }).count(), 0)
  })

  it('are renamed and deleted by their owner', async () => {
    await using open = await openPage(browser)
    const { page } = open
    await scene.openAt(page, '/requests?status=error')
    await save(page, 'Failed', false)
    await page.getByRole('button', { name: 'View: Failed' }).click()
    await page.getByRole('menuitem', { name: 'Rename Failed' }).click()
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill('Broken')
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByRole('button', { name: 'View: Broken' }).click()
    await page.getByRole('menuitem', { name: 'Delete Broken' }).click()
    await page.getByRole('button', { name: 'Views', exact: true }).waitFor()
    assert.deepEqual(open.errors, [])
  })

  it('of an earlier version that the browser kept are offered for saving once', async () => {
    await using open = await openPage(browser)
    const { page } = open
    const kept = { requestViews: [{ name: 'From before', search: { status: 'denied', range: '7d' } }] }
    await page.addInitScript(
      `if (!localStorage.getItem('seeded')) { localStorage.setItem('seeded', '1'); localStorage.setItem('gatehouse.console.preferences', ${JSON.stringify(JSON.stringify(kept))}) }`,
    )
    await scene.openAt(page, '/requests')
    await page.getByRole('button', { name: 'Views' }).click()
    await page.getByRole('menuitem', { name: 'Save the view of this browser on the server' }).click()
    await page.getByRole('button', { name: 'Views' }).click()
    await page.getByRole('menuitem', { name: 'From before' }).click()
    await page.waitForURL(/status=denied/)
    await page.getByRole('button', { name: 'View: From before' }).click()
    assert.equal(await page.getByRole('menuitem', { name: /of this browser/ }).count(), 0)
  })
})
