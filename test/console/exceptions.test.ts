import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Browser } from 'playwright-core'
import { accessibilityViolations, launchBrowser, openPage, withoutBrowser } from '../support/browser.ts'
import { openConsoleScene, type ConsoleScene } from '../support/console-scene.ts'

const base = '/v1/organization/policies'

describe('exceptions and the rollout of a policy in the console', { skip: withoutBrowser }, () => {
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

  async function enforcedPolicy(name: string): Promise<string> {
    const rule = { name, rule: `Never mention "${name}".`, mode: 'enforcing', direction: 'request' }
    const { id } = (await (await scene.post(base, rule, admin)).json()) as { id: string }
    await scene.post(`${base}/${id}/publish`, { revision: 1 }, admin)
    return id
  }
  const ask = (text: string) =>
    scene.post('/v1/messages', {
      model: 'gatehouse-echo',
      max_tokens: 9,
      metadata: { user_id: 'ada' },
      messages: [{ role: 'user', content: text }],
    })

  it('makes an exception for a user and ends it', async () => {
    const id = await enforcedPolicy('Falcon')
    await using view = await openPage(browser)
    const { page } = view
    await scene.openAt(page, `/policies/${id}`)
    await page.getByRole('link', { name: 'Exceptions', exact: true }).click()
    await page.getByText('No exceptions').waitFor()
    await page.getByRole('button', { name: 'Make an exception' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('User', { exact: true }).last().fill('ada')
    await dialog.getByLabel('Reason').fill('Legal agreed')
    assert.deepEqual(await accessibilityViolations(page), [])
    await dialog.getByRole('button', { name: 'Make an exception' }).click()
    await page.getByRole('cell', { name: 'ada' }).waitFor()
    assert.deepEqual(await accessibilityViolations(page), [])
    await page.getByRole('button', { name: 'End now' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'End now' }).click()
    await page.getByText('Ended early').waitFor()
    assert.deepEqual(view.errors, [])
  })

  it('names the key and the owner of an exception instead of their ids, here and in the audit log', async () => {
    const id = await enforcedPolicy('Merlin')
    await using view = await openPage(browser)
    const { page } = view
    await scene.openAt(page, `/policies/${id}/exceptions`)
    await page.getByRole('button', { name: 'Make an exception' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('button', { name: 'Key', exact: true }).click()
    const keys = dialog.getByLabel('Key', { exact: true }).last()
    const [name = ''] = (await keys.locator('option').allTextContents()).slice(1)
    await keys.selectOption({ label: name })
    await dialog.getByLabel('Reason').fill('Legal agreed')
    assert.deepEqual(await accessibilityViolations(page), [])
    await dialog.getByRole('button', { name: 'Make an exception' }).click()
    await page.getByRole('cell', { name: `Key ${name}` }).waitFor()
    await page.getByRole('button', { name: 'End now' }).click()
    await page.getByText(`Key ${name}: The policy is enforced`).waitFor()
    await page.keyboard.press('Escape')
    assert.doesNotMatch((await page.getByRole('table').textContent()) ?? '', /key_|adk_|mem_/)
    await scene.openAt(page, '/audit')
    await page.getByText('Made an exception from the policy Merlin').waitFor()
    assert.deepEqual(view.errors, [])
  })

  it('makes an exception from a denied request, and shows the one that let a request through', async () => {
    await enforcedPolicy('Condor')
    const denied = await ask('What is Condor?')
    assert.equal(denied.status, 400)
    await using view = await openPage(browser)
    const { page } = view
    await scene.openAt(page, `/requests/${denied.headers.get('x-request-id') ?? ''}`)
    await page.getByRole('button', { name: 'Make an exception' }).click()
    const dialog = page.getByRole('dialog').last()
    await dialog.getByRole('button', { name: 'Project', exact: true }).click()
    await dialog.getByLabel('Reason').fill('Legal agreed')
    await dialog.getByRole('button', { name: 'Make an exception' }).click()
    await dialog.getByLabel('Reason').waitFor({ state: 'detached' })
    const allowed = await ask('What is Condor?')
    assert.equal(allowed.status, 200)
    await scene.openAt(page, `/requests/${allowed.headers.get('x-request-id') ?? ''}`)
    await page.getByRole('link', { name: 'let through by an exception' }).click()
    await page.getByText('Legal agreed').waitFor()
    assert.deepEqual(view.errors, [])
  })

  it('enforces a policy for a share of users', async () => {
    const id = await enforcedPolicy('Vulture')
    await using view = await openPage(browser)
    const { page } = view
    await scene.openAt(page, `/policies/${id}`)
    await page.getByRole('link', { name: 'Rollout', exact: true }).click()
    await page.getByText('It is enforced for everybody.').waitFor()
    await page.getByRole('button', { name: '10 %', exact: true }).click()
    await page.getByRole('button', { name: 'Enforce for 10 %' }).click()
    await page.getByText('It is enforced for 10 % of users').waitFor()
    await page.getByText('distinct callers, last hour').waitFor()
    assert.deepEqual(await accessibilityViolations(page), [])
    assert.deepEqual(view.errors, [])
  })
})
