import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Browser, Locator, Page } from 'playwright-core'
import { accessibilityViolations, launchBrowser, openPage, withoutBrowser } from '../support/browser.ts'
import { openConsoleScene, type ConsoleScene } from '../support/console-scene.ts'

const many = { requests_per_minute: 10_000, concurrent_requests: 1_000 }

type Listed = { readonly data: readonly { readonly id: string; readonly name: string }[] }

describe('the budget of a key in the console', { skip: withoutBrowser }, () => {
  let browser: Browser
  let scene: ConsoleScene
  before(async () => {
    browser = await launchBrowser()
    scene = await openConsoleScene({
      config: {
        administration: { credential: many, console: many, organization: many },
        upstreams: [{ name: 'echo', kind: 'echo' }],
        models: [{ name: 'gatehouse-echo', targets: [{ upstream: 'echo' }], price: { input: 1000, output: 1000 } }],
      },
    })
  })
  after(async () => {
    await scene[Symbol.asyncDispose]()
    await browser.close()
  })

  const admin = () => ({ authorization: `Bearer ${scene.adminKey}` })
  const listed = async (path: string): Promise<Listed['data']> => {
    const response = await scene.get(`/v1/organization${path}`, admin())
    return ((await response.json()) as Listed).data
  }
  const openForm = async (page: Page, name: string): Promise<Locator> => {
    await scene.openAt(page, '/projects?dialog=create')
    const form = page.getByRole('dialog', { name: 'Create API key' })
    await form.getByLabel('Name').fill(name)
    await form.getByText('Budget', { exact: true }).click()
    return form
  }
  const submit = (form: Locator): Promise<void> => form.getByRole('button', { name: 'Create API key' }).click()

  it('is created with the key, holds its requests, and is shown with the key', async () => {
    await using open = await openPage(browser)
    const { page } = open
    const form = await openForm(page, 'Trial bot')
    await form.getByLabel('Amount', { exact: true }).fill('1')
    await form.getByLabel('Counts').selectOption('requests')
    await form.getByLabel('Period').selectOption('day')
    assert.deepEqual(await accessibilityViolations(page), [])
    await form.getByText('curl and command line').click()
    await form.getByText(`--name 'Trial bot' --budget-requests 1 --budget-period day`).waitFor()
    await form.getByText('"match":{"api_key_ids":["KEY_ID"]}').waitFor()
    await form.getByText('Budget', { exact: true }).click()
    await form.getByText('Budget: 1 request a day').waitFor()
    await submit(form)
    const dialog = page.getByRole('dialog', { name: 'The secret of Trial bot' })
    const link = dialog.getByRole('link', { name: 'Trial bot' })
    assert.match((await link.getAttribute('href')) ?? '', /costs\?view=budgets&budget=bud_/)
    assert.equal(await link.getAttribute('target'), '_blank')
    assert.deepEqual(await accessibilityViolations(page), [])
    const secret = (await dialog.locator('pre').first().textContent()) ?? ''
    const ask = async (): Promise<number> => {
      const body = { model: 'gatehouse-echo', max_tokens: 20, messages: [{ role: 'user', content: 'Hello' }] }
      const response = await scene.post('/v1/messages', body, { authorization: `Bearer ${secret}` })
      await response.text()
      return response.status
    }
    assert.equal(await ask(), 200)
    assert.equal(await ask(), 429)
    await dialog.getByRole('button', { name: 'I copied it' }).click()
    await page.getByRole('link', { name: 'Trial bot' }).click()
    const edit = page.getByRole('dialog', { name: 'Edit Trial bot' })
    await edit.getByText('1 request a day').waitFor()
    await edit.getByText('1 of 1 request').waitFor()
    assert.deepEqual(await accessibilityViolations(page), [])
    await edit.getByRole('link', { name: 'Trial bot' }).click()
    await page
      .getByRole('complementary', { name: 'Budget' })
      .getByText('All requests, key Trial bot: 1 request a day')
      .waitFor()
    assert.deepEqual(open.errors, [])
  })

  it('has the end of the id of the key in its name where another budget has the name', async () => {
    const taken = await scene.post('/v1/organization/budgets', { name: 'Twin', tokens: 5, period: 'day' }, admin())
    assert.equal(taken.status, 201, await taken.text())
    await using open = await openPage(browser)
    const form = await openForm(open.page, 'Twin')
    await form.getByLabel('Amount', { exact: true }).fill('20')
    await form.getByLabel('Requests over the amount').selectOption('warn')
    await submit(form)
    await open.page.getByRole('dialog', { name: 'The secret of Twin' }).waitFor()
    const [key] = await listed('/api_keys?search=twin')
    const names = (await listed('/budgets?search=twin')).map(({ name }) => name)
    assert.deepEqual(names, [`Twin ${key?.id.slice(-6)}`, 'Twin'])
  })

  it('is not created, and neither is the key, while the amount is wrong', async () => {
    await using open = await openPage(browser)
    const form = await openForm(open.page, 'Mistyped')
    const amount = form.getByLabel('Amount', { exact: true })
    for (const [typed, problem] of [
      ['twenty', 'Must be a number'],
      ['0', 'Must be more than 0'],
      ['0.0000001', 'Must have at most 6 decimals'],
    ] as const) {
      await amount.fill(typed)
      await submit(form)
      await form.getByRole('alert').getByText(problem).waitFor()
      assert.equal(await amount.getAttribute('aria-invalid'), 'true')
      assert.ok(await amount.evaluate((node) => node.matches(':focus')))
    }
    assert.deepEqual(await accessibilityViolations(open.page), [])
    await form.getByLabel('Counts').selectOption('tokens')
    await amount.fill('1.5')
    await form.getByText('Must be a whole number').waitFor()
    assert.deepEqual(await listed('/api_keys?search=mistyped'), [])
    await form.getByText('Budget', { exact: true }).click()
    await submit(form)
    await form.getByText('Must be a whole number').waitFor()
    await amount.fill('')
    await submit(form)
    await open.page.getByRole('dialog', { name: 'The secret of Mistyped' }).waitFor()
    assert.equal((await listed('/api_keys?search=mistyped')).length, 1)
    assert.deepEqual(await listed('/budgets?search=mistyped'), [])
  })

  it('can fail to be created: then the secret is shown with the error and a link to create it by hand', async () => {
    await using open = await openPage(browser)
    const { page } = open
    await page.route('**/v1/organization/budgets', (route) =>
      route.fulfill({ status: 409, json: { error: { code: 'budget_limit_reached', message: 'There are too many.' } } }),
    )
    const form = await openForm(page, 'Unlucky')
    await form.getByLabel('Amount', { exact: true }).fill('20')
    await submit(form)
    const dialog = page.getByRole('dialog', { name: 'The secret of Unlucky' })
    await dialog.getByText('There are too many. budget_limit_reached').waitFor()
    assert.match((await dialog.locator('pre').first().textContent()) ?? '', /\w{20}/)
    assert.deepEqual(await accessibilityViolations(page), [])
    const [key] = await listed('/api_keys?search=unlucky')
    const byHand = page.context().waitForEvent('page')
    await dialog.getByRole('link', { name: 'Create it on the page Costs' }).click()
    const other = await byHand
    const create = other.getByRole('dialog', { name: 'New budget' })
    assert.ok(await create.getByLabel('Unlucky').isChecked(), `of ${key?.id}`)
    assert.ok(await dialog.isVisible())
  })

  it('is offered only with budgets:write, and not to administrator keys', async () => {
    const permissions = ['keys:read', 'keys:write', 'projects:read', 'budgets:read']
    const made = await scene.post('/v1/organization/admin_api_keys', { name: 'keys only', permissions }, admin())
    const { value } = (await made.json()) as { value: string }
    await using open = await openPage(browser)
    const { page } = open
    await page.goto(`${scene.url}/console/projects?dialog=create`)
    await page.getByLabel('Administrator key').fill(value)
    await page.keyboard.press('Enter')
    await page.getByRole('dialog', { name: 'Create API key' }).getByLabel('Name').waitFor()
    assert.equal(await page.getByText('Budget', { exact: true }).count(), 0)
    await using owner = await openPage(browser)
    await scene.openAt(owner.page, '/projects?tab=administrators&dialog=create')
    await owner.page.getByRole('dialog', { name: 'Create administrator key' }).getByLabel('Name').waitFor()
    assert.equal(await owner.page.getByText('Budget', { exact: true }).count(), 0)
  })

  it('fits in 390 pixels and in both themes', async () => {
    for (const colorScheme of ['light', 'dark'] as const) {
      await using open = await openPage(browser, { colorScheme, viewport: { width: 390, height: 844 } })
      const form = await openForm(open.page, 'Narrow')
      await form.getByLabel('Amount', { exact: true }).fill('x')
      await submit(form)
      await form.getByRole('alert').waitFor()
      assert.deepEqual(await accessibilityViolations(open.page), [], colorScheme)
      assert.equal(await open.page.evaluate('document.documentElement.scrollWidth'), 390)
      assert.equal(await form.evaluate((node) => node.scrollWidth - node.clientWidth), 0)
    }
  })
})
