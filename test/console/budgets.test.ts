import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { accessibilityViolations, launchBrowser, openPage, withoutBrowser } from '../support/browser.ts'
import { openConsoleScene, type ConsoleScene } from '../support/console-scene.ts'

const many = { requests_per_minute: 10_000, concurrent_requests: 1_000 }
const echo = { targets: [{ upstream: 'echo' }], price: { input: 1000, output: 1000 } }

describe('budgets in the console', { skip: withoutBrowser }, () => {
  let browser: Browser
  let scene: ConsoleScene
  before(async () => {
    browser = await launchBrowser()
    scene = await openConsoleScene({
      config: {
        upstreams: [{ name: 'echo', kind: 'echo' }],
        models: [
          { name: 'gatehouse-echo', ...echo },
          { name: 'small-echo', ...echo },
        ],
        budgets: { tags: ['team'] },
        administration: { credential: many, console: many, organization: many },
      },
    })
  })
  after(async () => {
    await scene[Symbol.asyncDispose]()
    await browser.close()
  })

  const admin = () => ({ authorization: `Bearer ${scene.adminKey}` })
  const budgets = '/v1/organization/budgets'
  const create = async (body: object, headers: Readonly<Record<string, string>> = {}): Promise<string> => {
    const response = await scene.post(budgets, body, { ...admin(), ...headers })
    const text = await response.text()
    assert.equal(response.status, 201, text)
    return (JSON.parse(text) as { id: string }).id
  }
  const ask = async (userId: string, team: string): Promise<void> => {
    const body = {
      model: 'gatehouse-echo',
      max_tokens: 20,
      messages: [{ role: 'user', content: 'Hello' }],
      metadata: { user_id: userId },
    }
    const response = await scene.post('/v1/messages', body, {
      authorization: `Bearer ${scene.apiKey}`,
      'x-policy-tags': `team=${team}`,
    })
    assert.equal(response.status, 200, await response.text())
  }
  const openBudgets = async (page: Page, more = ''): Promise<void> => {
    await scene.openAt(page, `/costs?view=budgets${more}`)
    await page.getByRole('navigation', { name: 'Sections' }).waitFor()
  }

  it('are created in a form that says what is wrong at its field, and then shown', async () => {
    await using open = await openPage(browser)
    const { page } = open
    await scene.signIn(page)
    await page.getByRole('link', { name: 'Costs', exact: true }).click()
    await page.getByRole('link', { name: 'Budgets' }).click()
    await page.getByText('No budgets yet').waitFor()
    assert.deepEqual(await accessibilityViolations(page), [])

    await page.getByRole('button', { name: 'New budget' }).click()
    const form = page.getByRole('dialog', { name: 'New budget' })
    await form.getByLabel('Name').fill('Each user')
    assert.ok(await form.getByRole('button', { name: 'New budget' }).isDisabled())
    await form.getByLabel('Amount', { exact: true }).fill('5')
    await form.getByLabel('Period').selectOption('day')
    await form.getByLabel('For', { exact: true }).selectOption('user')
    await form.getByLabel('Requests over the amount').selectOption('use_model')
    await form.getByLabel('Model', { exact: true }).selectOption('small-echo')
    await form.getByText('Only some requests').click()
    await form.getByLabel('Default project').check()
    await form.getByLabel('Tags').fill('team=red\nregion=eu')
    await form.getByLabel('Time zone').fill('Europe/Berlin')
    assert.deepEqual(await accessibilityViolations(page), [])
    await form.getByRole('button', { name: 'New budget' }).click()
    await form.getByText(/the tag region is not in budgets\.tags/).waitFor()
    await form.getByLabel('Tags').fill('team=red')
    await form.getByText('curl and command line').click()
    await form.getByText('gatehouse budgets create -f budget.yaml').waitFor()
    await form.getByRole('button', { name: 'New budget' }).click()

    const drawer = page.getByRole('complementary', { name: 'Budget' })
    await drawer.getByText('Each user, project Default project, team red: $5.00 a day').waitFor()
    await drawer.getByText('Use small-echo').waitFor()
    await drawer.getByText('Europe/Berlin').waitFor()
    await drawer.getByText('Nothing is spent in this period.').waitFor()
    assert.deepEqual(await accessibilityViolations(page), [])
    // Chromium logs the answer to the unknown tag.
    assert.deepEqual(
      open.errors.filter((error) => !/status of 422/.test(error)),
      [],
    )
  })

  it('show what each member spent, and lead to its requests', async () => {
    const id = await create({ name: 'Requests of users', requests: 5, per: 'user', period: 'month', action: 'warn' })
    for (const user of ['ada', 'ada', 'ada', 'ada', 'ben']) await ask(user, 'blue')
    await using open = await openPage(browser)
    const { page } = open
    await openBudgets(page)
    const row = page.getByRole('row', { name: /Requests of users/ })
    await row.getByText('4 of 5 requests').waitFor()
    await row.getByText('80.0%').waitFor()
    await row.getByText('1 at 50 % or more').waitFor()
    await row.getByText('Only warn').waitFor()
    await row.getByRole('link', { name: 'Requests of users' }).click()
    await page.waitForURL(new RegExp(`budget=${id}`))
    const drawer = page.getByRole('complementary', { name: 'Budget' })
    const members = drawer.getByRole('listitem')
    await members.nth(1).getByText('1 of 5 requests').waitFor()
    await members.first().getByText('1 request left').waitFor()
    assert.deepEqual(await accessibilityViolations(page), [])
    await members.first().getByRole('link', { name: 'ada' }).click()
    await page.waitForURL(/requests\?.*user_id=ada/)
    assert.deepEqual(open.errors, [])
  })

  it('are edited, paused, resumed, given an extra amount and deleted', async () => {
    const id = await create({ name: 'Team red', amount_usd: 500, period: 'month', match: { tags: { team: ['red'] } } })
    await using open = await openPage(browser)
    const { page } = open
    await openBudgets(page, `&budget=${id}`)
    const drawer = page.getByRole('complementary', { name: 'Budget' })
    await drawer.getByRole('button', { name: 'Edit' }).click()
    const edit = page.getByRole('dialog', { name: 'Edit: Team red' })
    assert.equal(await edit.getByLabel('Tags').inputValue(), 'team=red')
    await edit.getByLabel('Amount', { exact: true }).fill('600')
    await edit.getByLabel('Warns at').fill('90')
    await edit.getByRole('button', { name: 'Save changes' }).click()
    await drawer.getByText('All requests, team red: $600.00 a month').waitFor()
    await drawer.getByText('90 %', { exact: true }).waitFor()

    await drawer.getByRole('button', { name: 'Pause' }).click()
    await page.getByRole('dialog', { name: 'Pause: Team red' }).getByRole('button', { name: 'Pause' }).click()
    await drawer.getByText('A paused budget rejects nothing').waitFor()
    await drawer.getByRole('button', { name: 'Resume' }).click()
    await page.getByRole('dialog', { name: 'Resume: Team red' }).getByRole('button', { name: 'Resume' }).click()
    await drawer.getByText('Active').waitFor()

    await drawer.getByRole('button', { name: 'Extra amount' }).click()
    const extra = page.getByRole('dialog', { name: 'Extra amount: Team red' })
    await extra.getByLabel('Extra amount').fill('50')
    await extra.getByLabel('Reason').fill('Launch week')
    assert.deepEqual(await accessibilityViolations(page), [])
    await extra.getByRole('button', { name: 'Extra amount' }).click()
    await drawer.getByText(/^\$50\.00 until .*: Launch week$/).waitFor()
    await drawer.getByText('$0.00 of $650.00').waitFor()
    await extra.waitFor({ state: 'hidden' })
    await drawer.getByRole('button', { name: 'Extra amount' }).click()
    await extra.getByRole('button', { name: 'Remove the extra amount' }).click()
    await drawer.getByText('$0.00 of $600.00').waitFor()
    await extra.waitFor({ state: 'hidden' })

    await drawer.getByRole('button', { name: 'Delete' }).click()
    const remove = page.getByRole('dialog', { name: 'Delete: Team red' })
    assert.deepEqual(await accessibilityViolations(page), [])
    await remove.getByRole('button', { name: 'Delete' }).click()
    await drawer.waitFor({ state: 'detached' })
    await page.getByRole('link', { name: 'Team red' }).waitFor({ state: 'detached' })
    assert.equal((await scene.get(`${budgets}/${id}`, admin())).status, 404)
    assert.deepEqual(open.errors, [])
  })

  it('are not replaced when somebody else changed them meanwhile', async () => {
    const id = await create({ name: 'Shared', tokens: 1000, period: 'week' })
    await using open = await openPage(browser)
    const { page } = open
    await openBudgets(page, `&budget=${id}&dialog=edit`)
    const edit = page.getByRole('dialog', { name: 'Edit: Shared' })
    await edit.getByLabel('Amount', { exact: true }).fill('2000')
    const changed = await fetch(`${scene.url}${budgets}/${id}`, {
      method: 'PATCH',
      headers: { ...admin(), 'content-type': 'application/json' },
      body: JSON.stringify({ revision: 1, tokens: 3000 }),
    })
    assert.equal(changed.status, 200)
    await edit.getByRole('button', { name: 'Save changes' }).click()
    await edit.getByText('The budget is at revision 2; the request names 1.').waitFor()
  })

  it('say whom they would have stopped before they are created', async () => {
    for (let sent = 0; sent < 3; sent++) await ask('planned', 'green')
    await using open = await openPage(browser)
    const { page } = open
    await openBudgets(page, '&dialog=create')
    const form = page.getByRole('dialog', { name: 'New budget' })
    await form.getByLabel('Name').fill('Planned')
    await form.getByLabel('Amount', { exact: true }).fill('1')
    await form.getByLabel('Counts').selectOption('requests')
    await form.getByLabel('For', { exact: true }).selectOption('user')
    await form.getByText('Only some requests').click()
    await form.getByLabel('Users').fill('planned')
    await form.getByRole('button', { name: 'Whom would it have stopped?' }).click()
    await form.getByText('In the last 30 days: one member over the amount, with 2 requests after it.').waitFor()
    await form.getByRole('row', { name: /^planned/ }).waitFor()
    assert.deepEqual(await accessibilityViolations(page), [])
    await form.getByLabel('Amount', { exact: true }).fill('1000')
    assert.equal(await form.getByText('In the last 30 days').count(), 0)
    await form.getByRole('button', { name: 'Whom would it have stopped?' }).click()
    await form.getByText('Nobody in the last 30 days.').waitFor()
    assert.deepEqual(open.errors, [])
  })

  it('that files manage cannot be changed here', async () => {
    const id = await create(
      { name: 'From files', requests: 10, period: 'once' },
      { 'x-gatehouse-managed-by': 'platform-config' },
    )
    await using open = await openPage(browser)
    const { page } = open
    await openBudgets(page)
    await page
      .getByRole('row', { name: /From files/ })
      .getByText('Files', { exact: true })
      .waitFor()
    await openBudgets(page, `&budget=${id}&dialog=delete`)
    const drawer = page.getByRole('complementary', { name: 'Budget' })
    await drawer.getByText('Managed from files (platform-config): change it there.').waitFor()
    assert.equal(await drawer.getByRole('button', { name: 'Edit' }).count(), 0)
    assert.equal(await page.getByRole('dialog').count(), 0)
  })

  it('are read-only for a key without budgets:write, and not shown to one without budgets:read', async () => {
    const keyOf = async (permissions: readonly string[]): Promise<string> => {
      const made = await scene.post('/v1/organization/admin_api_keys', { name: 'reader', permissions }, admin())
      return ((await made.json()) as { value: string }).value
    }
    const signIn = async (page: Page, key: string): Promise<void> => {
      await page.goto(`${scene.url}/console/costs?view=budgets`)
      await page.getByLabel('Administrator key').fill(key)
      await page.keyboard.press('Enter')
    }
    const id = await create({ name: 'Seen by readers', amount_usd: 1, period: 'day' })
    await using reader = await openPage(browser)
    await signIn(reader.page, await keyOf(['budgets:read']))
    await reader.page.getByText('Read-only. You need the permission budgets:write to make changes.').waitFor()
    assert.ok(await reader.page.getByRole('button', { name: 'New budget' }).isDisabled())
    await reader.page.goto(`${scene.url}/console/costs?view=budgets&budget=${id}`)
    assert.ok(await reader.page.getByRole('button', { name: 'Edit' }).isDisabled())
    await reader.page.getByRole('link', { name: 'Spend', exact: true }).click()
    await reader.page.getByText('You need usage:read to see this.').waitFor()
    await using other = await openPage(browser)
    await signIn(other.page, await keyOf(['usage:read']))
    await other.page.getByText('You need budgets:read to see this.').waitFor()
  })

  it('are found in the search by id, by name and as a page', async () => {
    const id = await create({ name: 'Searched for', amount_usd: 7, period: 'week' })
    await using open = await openPage(browser)
    const { page } = open
    await scene.openAt(page, '/overview')
    const search = async (text: string): Promise<void> => {
      await page.keyboard.press('Control+k')
      await page.getByRole('dialog', { name: 'Search or paste an id' }).getByRole('combobox').fill(text)
    }
    await page.getByRole('button', { name: /Search or paste an id/ }).waitFor()
    await search(id)
    await page.getByRole('option', { name: `Open budget ${id}` }).waitFor()
    await page.keyboard.press('Enter')
    await page.getByRole('complementary', { name: 'Budget' }).getByText('$7.00 a week').waitFor()
    await search('searched f')
    await page.getByRole('option', { name: /Searched for.*Budget/ }).waitFor()
    assert.deepEqual(await accessibilityViolations(page), [])
    await page.getByRole('combobox').fill('spend')
    await page.getByRole('option', { name: /Costs: spend/ }).click()
    await page.waitForURL(/\/costs$/)
    await search('costs')
    for (const name of [/^Costs\s*Page/, /Costs: spend/, /Costs: budgets/])
      await page.getByRole('option', { name }).waitFor()
    await page.getByRole('combobox').fill('budget')
    await page.getByRole('option', { name: /New budget/ }).waitFor()
    await page.getByRole('option', { name: /Costs: budgets/ }).click()
    await page.waitForURL(/view=budgets$/)
    assert.deepEqual(open.errors, [])
  })

  it('show the whole list at 1280 pixels, read in one request', async () => {
    await using open = await openPage(browser, { viewport: { width: 1_280, height: 800 } })
    const { page } = open
    const read: string[] = []
    page.on('request', (request) => {
      const { pathname, search } = new URL(request.url())
      if (pathname.startsWith(budgets)) read.push(pathname + search)
    })
    await openBudgets(page)
    const table = page.getByRole('region', { name: 'Budgets' })
    await table.getByRole('row').nth(4).waitFor()
    const { scrollWidth, clientWidth } = await table.evaluate((node) => ({
      scrollWidth: node.scrollWidth,
      clientWidth: node.clientWidth,
    }))
    assert.equal(scrollWidth, clientWidth)
    assert.deepEqual(read, [`${budgets}?limit=20&include=status`])
    assert.equal(await page.getByRole('link', { name: 'Budgets' }).getAttribute('aria-current'), 'page')
  })

  for (const width of [1_280, 390])
    it(`fit in ${width} pixels and in both themes`, async () => {
      const id = await create({
        name: `A budget with a long name for screens of ${width} pixels`,
        tokens: 100_000,
        period: 'week',
        per: 'tag:team',
      })
      await ask('ada', 'red')
      for (const colorScheme of ['light', 'dark'] as const) {
        await using open = await openPage(browser, { colorScheme, viewport: { width, height: 844 } })
        const { page } = open
        await scene.signIn(page)
        for (const [query, shown] of [
          ['', 'A budget with a long name'],
          [`&budget=${id}`, 'Spent in this period'],
          ['&dialog=create', 'Requests over the amount'],
        ] as const) {
          await page.goto(`${scene.url}/console/costs?view=budgets${query}`)
          await page.getByText(shown).first().waitFor()
          await page.getByText('Loading', { exact: true }).first().waitFor({ state: 'detached' })
          assert.deepEqual(await accessibilityViolations(page), [], `${colorScheme} ${query}`)
          assert.equal(await page.evaluate('document.documentElement.scrollWidth'), width, query)
        }
      }
    })
})
