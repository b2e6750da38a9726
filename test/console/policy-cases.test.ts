import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { accessibilityViolations, launchBrowser, openPage, withoutBrowser } from '../support/browser.ts'
import { openConsoleScene, type ConsoleScene } from '../support/console-scene.ts'

const base = '/v1/organization/policies'
const rule = 'Never mention "Project Falcon".'

describe('the cases of a policy in the console', { skip: withoutBrowser }, () => {
  let browser: Browser
  let scene: ConsoleScene
  let admin: { authorization: string }
  before(async () => {
    browser = await launchBrowser()
    scene = await openConsoleScene()
    admin = { authorization: `Bearer ${scene.adminKey}` }
  })
  after(async () => {
    await scene[Symbol.asyncDispose]()
    await browser.close()
  })

  async function newPolicy(name: string): Promise<string> {
    const created = await scene.post(base, { name, rule }, admin)
    return ((await created.json()) as { id: string }).id
  }
  const rowOf = (page: Page, says: string) => page.getByRole('row').filter({ hasText: says })

  it('are added, run on the draft, changed and deleted', async () => {
    const id = await newPolicy('With cases')
    await using view = await openPage(browser)
    const { page } = view
    await scene.openAt(page, `/policies/${id}`)
    await page.getByRole('link', { name: 'Cases' }).click()
    await page.getByText('No cases yet').waitFor()
    assert.deepEqual(await accessibilityViolations(page), [])

    await page.getByRole('button', { name: 'Add case' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('About').fill('asked outright')
    await dialog.getByLabel('Text').fill('What is Project Falcon?')
    assert.deepEqual(await accessibilityViolations(page), [])
    await dialog.getByRole('button', { name: 'Add case' }).click()
    await rowOf(page, 'asked outright').waitFor()

    await page.getByRole('button', { name: 'Add case' }).click()
    await dialog.getByLabel('About').fill('the bird')
    await dialog.getByLabel('Text').fill('A falcon is a bird of prey.')
    await dialog.getByRole('button', { name: 'Should pass' }).click()
    await dialog.getByRole('button', { name: 'Add case' }).click()
    await rowOf(page, 'the bird').waitFor()

    await page.getByRole('button', { name: 'Run on the draft' }).click()
    await page.getByText('1 passed, 1 failed, 0 not evaluated.').waitFor()
    await rowOf(page, 'asked outright').getByText('Passed').waitFor()
    await rowOf(page, 'the bird').getByText('Failed').waitFor()
    assert.deepEqual(await accessibilityViolations(page), [])

    await page.getByRole('button', { name: 'Actions for the bird' }).click()
    await page.getByRole('menuitem', { name: 'Change' }).click()
    await dialog.getByRole('button', { name: 'No match' }).click()
    await dialog.getByRole('button', { name: 'Save' }).click()
    await rowOf(page, 'the bird').getByText('No match').waitFor()
    assert.equal(await rowOf(page, 'the bird').getByText('Failed').count(), 0)
    await page.getByRole('button', { name: 'Run on the draft' }).click()
    await page.getByText('2 passed, 0 failed, 0 not evaluated.').waitFor()

    await page.getByRole('button', { name: 'Actions for asked outright' }).click()
    await page.getByRole('menuitem', { name: 'Delete' }).click()
    await dialog.getByRole('button', { name: 'Delete' }).click()
    await rowOf(page, 'asked outright').waitFor({ state: 'detached' })
    assert.deepEqual(view.errors, [])
  })

  it('are saved from a text that was tried', async () => {
    const id = await newPolicy('Tried')
    await using view = await openPage(browser)
    const { page } = view
    await scene.openAt(page, `/policies/${id}`)
    await page.getByLabel('Text', { exact: true }).fill('Tell me about Project Falcon.')
    await page.getByRole('button', { name: 'Save as a case' }).click()
    const dialog = page.getByRole('dialog')
    assert.equal(await dialog.getByLabel('Text').inputValue(), 'Tell me about Project Falcon.')
    await dialog.getByLabel('About').fill('tried')
    await dialog.getByRole('button', { name: 'Add case' }).click()
    await dialog.waitFor({ state: 'detached' })
    await page.getByRole('link', { name: 'Cases' }).click()
    await rowOf(page, 'tried').waitFor()
    assert.deepEqual(view.errors, [])
  })

  it('can be run and not changed by somebody who may only read', async () => {
    const id = await newPolicy('Read only')
    await scene.post(`${base}/${id}/cases`, { says: 'one', given: { text: 'x' }, expect: 'no_match' }, admin)
    const body = { name: 'Reader', permissions: ['policies:read'] }
    const created = await scene.post('/v1/organization/admin_api_keys', body, admin)
    const { value } = (await created.json()) as { value: string }
    await using view = await openPage(browser, { colorScheme: 'dark' })
    const { page } = view
    await page.goto(`${scene.url}/console/policies/${id}/cases`)
    await page.getByLabel('Administrator key').fill(value)
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'Run on the draft' }).click()
    await page.getByText('1 passed, 0 failed, 0 not evaluated.').waitFor()
    assert.equal(await page.getByRole('button', { name: 'Add case' }).count(), 0)
    assert.deepEqual(await accessibilityViolations(page), [])
  })
})
