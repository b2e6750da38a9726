import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { accessibilityViolations, launchBrowser, openPage, withoutBrowser } from '../support/browser.ts'
import { openConsoleScene, type ConsoleScene } from '../support/console-scene.ts'

type Stored = {
  id: string
  name: string
  description: string
  state: string
  revision: number
  current_version: number | null
}

describe('the policies of the console', { skip: withoutBrowser }, () => {
  let browser: Browser
  let scene: ConsoleScene
  let admin: { authorization: string }
  before(async () => {
    browser = await launchBrowser()
    // All pages of the test act as one key, which makes more requests than a person does.
    const limits = { requests_per_minute: 10_000, concurrent_requests: 100 }
    scene = await openConsoleScene({
      config: { administration: { credential: limits, console: limits, organization: limits } },
    })
    admin = { authorization: `Bearer ${scene.adminKey}` }
  })
  after(async () => {
    await scene[Symbol.asyncDispose]()
    await browser.close()
  })

  const base = '/v1/organization/policies'
  const read = async (id: string): Promise<Stored> =>
    (await scene.get(`${base}/${id}`, admin)).json() as Promise<Stored>
  /** A published policy of its own for a test. */
  async function newPolicy(name: string, rule = 'cel:text.contains("heron")'): Promise<string> {
    const created = (await (await scene.post(base, { name, rule, mode: 'enforcing' }, admin)).json()) as Stored
    await scene.post(`${base}/${created.id}/publish`, { revision: created.revision }, admin)
    return created.id
  }
  const open = async (page: Page, path: string): Promise<void> => {
    await scene.openAt(page, path)
  }
  const editor = (page: Page) => page.locator('.cm-content')
  /** Replaces the rule as a person does: selects all, deletes it, and types. */
  const write = async (page: Page, rule: string): Promise<void> => {
    await editor(page).focus()
    await page.keyboard.press('Control+a')
    await page.keyboard.press('Delete')
    await page.keyboard.insertText(rule)
  }

  it('are listed, filtered by the address, and created as a draft', async () => {
    await newPolicy('Listed')
    await using view = await openPage(browser)
    const { page } = view
    await open(page, '/policies')
    const row = page.getByRole('row').filter({ hasText: 'Listed' })
    await row.getByText('Enforcing').waitFor()
    assert.deepEqual(await accessibilityViolations(page), [])
    await page.getByRole('combobox', { name: 'State' }).selectOption('draft')
    await page.waitForURL(/state=draft/)
    await page.getByText('No policies match these filters').waitFor()
    await page.getByRole('button', { name: 'New policy' }).click()
    const dialog = page.getByRole('dialog', { name: 'New policy' })
    await dialog.getByLabel('Name').fill('Listed')
    await dialog.getByLabel('Rule').fill('Never mention "Project Stork".')
    assert.deepEqual(await accessibilityViolations(page), [])
    await dialog.getByRole('button', { name: 'Create draft' }).click()
    await dialog.getByRole('alert').waitFor()
    await dialog.getByLabel('Name').fill('No storks')
    await dialog.getByRole('button', { name: 'Create draft' }).click()
    await page.waitForURL(/policies\/pol_/)
    await page.getByRole('heading', { name: 'No storks' }).waitFor()
    assert.deepEqual(
      view.errors.filter((error) => !error.includes('409')),
      [],
    )
  })

  it('stop a bad policy in two clicks from its page', async () => {
    const id = await newPolicy('Too strict', 'cel:text.contains("bittern")')
    const status = async (): Promise<number> => {
      const messages = [{ role: 'user', content: 'a bittern' }]
      return (await scene.post('/v1/messages', { model: 'gatehouse-echo', max_tokens: 10, messages })).status
    }
    const enforced = await status()
    await using view = await openPage(browser)
    const { page } = view
    await open(page, `/policies/${id}`)
    await page.getByRole('button', { name: 'Pause' }).click()
    await page.getByRole('dialog').getByText('All projects of the organization').waitFor()
    assert.deepEqual(await accessibilityViolations(page), [])
    await page.getByRole('button', { name: 'Pause policy' }).click()
    await page.getByRole('button', { name: 'Resume' }).waitFor()
    assert.equal((await read(id)).state, 'paused')
    assert.notEqual(enforced, 200)
    assert.equal(await status(), 200)
    assert.deepEqual(view.errors, [])
  })

  it('try a text on a draft before it is saved', async () => {
    const id = await newPolicy('Birds')
    await using view = await openPage(browser)
    const { page } = view
    await open(page, '/policies')
    await page.getByRole('link', { name: 'Birds' }).click()
    await write(page, 'cel:text.contains("egret")')
    await page.getByLabel('Text', { exact: true }).fill('An egret is white.')
    const draft = page.getByRole('listitem').filter({ hasText: 'Draft' })
    await draft.getByText('Deny').waitFor()
    await draft.getByText('10,000 / 5,000').waitFor()
    await page.getByRole('listitem').filter({ hasText: 'v1' }).getByText('Allow').waitFor()
    assert.equal(await page.locator('mark').textContent(), 'egret')
    assert.equal((await read(id)).revision, 2)
    assert.deepEqual(await accessibilityViolations(page), [])
    assert.deepEqual(view.errors, [])
  })

  it('show the error of a rule at its place while it is typed', async () => {
    const id = await newPolicy('Mistyped')
    await using view = await openPage(browser)
    const { page } = view
    await open(page, `/policies/${id}`)
    await write(page, 'cel:txt.contains("heron")')
    await page.locator('.cm-lintRange-error').waitFor()
    await page.getByText('1:5', { exact: true }).waitFor()
    await write(page, 'cel:pii["em')
    await page.getByRole('option', { name: 'email' }).click()
    assert.equal(await editor(page).innerText(), 'cel:pii["email')
    assert.deepEqual(view.errors, [])
  })

  it('publish a changed rule in three clicks, and roll it back in three', async () => {
    const id = await newPolicy('Changing')
    await using view = await openPage(browser)
    const { page } = view
    await open(page, `/policies/${id}`)
    await write(page, 'cel:text.contains("crane")')
    await page.getByRole('button', { name: 'Save draft' }).click()
    await page.getByText('Draft saved').waitFor()
    await page.getByRole('button', { name: 'Publish v2' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('Matches are denied').waitFor()
    assert.deepEqual(await accessibilityViolations(page), [])
    await dialog.getByLabel('Reason').fill('Cranes are secret, too')
    await dialog.getByRole('button', { name: 'Publish v2' }).click()
    await dialog.waitFor({ state: 'detached' })
    assert.equal((await read(id)).current_version, 2)

    await page.getByRole('link', { name: 'History' }).click()
    await page.getByRole('region', { name: 'Changes from v1 to v2' }).getByText('crane').waitFor()
    const second = page.getByRole('row').filter({ hasText: 'v2' })
    await second.filter({ hasText: 'First administrator key' }).filter({ hasText: 'Cranes are secret, too' }).waitFor()
    assert.deepEqual(await accessibilityViolations(page), [])
    await page.getByRole('button', { name: 'Roll back to v1' }).click()
    assert.deepEqual(await accessibilityViolations(page), [])
    await page.getByRole('dialog').getByRole('button', { name: 'Roll back to v1' }).click()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    const stored = (await (await scene.get(`${base}/${id}`, admin)).json()) as { published: { rule: string } }
    assert.equal(stored.published.rule, 'cel:text.contains("heron")')
    assert.deepEqual(view.errors, [])
  })

  it('save name and description without publishing', async () => {
    const id = await newPolicy('Renamed')
    await using view = await openPage(browser)
    const { page } = view
    await open(page, `/policies/${id}`)
    await page.getByLabel('Name').fill('Renamed in the console')
    await page.getByLabel('Description').fill('Birds stay inside.')
    await page.getByText('curl and command line').click()
    await page.getByText(`--name 'Renamed in the console' --description 'Birds stay inside.'`).waitFor()
    await page.getByRole('button', { name: 'Save draft' }).click()
    await page.getByText('Draft saved').waitFor()
    const { name, description, current_version: version } = await read(id)
    assert.deepEqual([name, description, version], ['Renamed in the console', 'Birds stay inside.', 1])
    assert.deepEqual(view.errors, [])
  })

  it('say that somebody else changed the policy, and lose neither change', async () => {
    const id = await newPolicy('Contended')
    await using view = await openPage(browser)
    const { page } = view
    await open(page, `/policies/${id}`)
    await write(page, 'cel:text.contains("mine")')
    const { revision } = await read(id)
    const theirs = { revision, rule: 'cel:text.contains("theirs")' }
    const headers = { ...admin, 'content-type': 'application/json' }
    await fetch(`${scene.url}${base}/${id}`, { method: 'PATCH', headers, body: JSON.stringify(theirs) })
    await page.getByRole('button', { name: 'Save draft' }).click()
    await page.getByText('Someone else changed this policy').waitFor()
    await page.getByRole('button', { name: 'Compare' }).click()
    const dialog = page.getByRole('dialog', { name: 'Theirs and mine' })
    await dialog.getByText('cel:text.contains("theirs")').waitFor()
    assert.deepEqual(await accessibilityViolations(page), [])
    await dialog.getByRole('button', { name: 'Keep mine' }).click()
    await page.getByRole('button', { name: 'Save draft' }).click()
    await page.getByText('Draft saved').waitFor()
    const stored = (await (await scene.get(`${base}/${id}`, admin)).json()) as { draft: { rule: string } }
    assert.equal(stored.draft.rule, 'cel:text.contains("mine")')
    await page.getByRole('button', { name: 'More actions' }).click()
    await page.getByRole('menuitem', { name: 'Discard draft' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Discard draft' }).click()
    await page.getByRole('textbox', { name: 'Rule' }).getByText('heron').waitFor()
  })

  it('ask before unsaved changes are lost, and for the name before a policy is deleted', async () => {
    const id = await newPolicy('Doomed')
    await using view = await openPage(browser)
    const { page } = view
    await open(page, `/policies/${id}`)
    await write(page, 'cel:text.contains("unsaved")')
    await page.getByRole('link', { name: 'History' }).click()
    await page.getByRole('link', { name: 'Edit', exact: true }).click()
    await page.getByRole('textbox', { name: 'Rule' }).getByText('unsaved').waitFor()
    await page.getByRole('link', { name: 'Requests', exact: true }).click()
    await page.getByRole('button', { name: 'Stay' }).click()
    await page.getByRole('button', { name: 'Undo changes' }).click()
    await page.getByRole('button', { name: 'More actions' }).click()
    await page.getByRole('menuitem', { name: 'Delete policy' }).click()
    const confirm = page.getByRole('dialog').getByRole('button', { name: 'Delete policy' })
    assert.equal(await confirm.isDisabled(), true)
    await page.getByRole('dialog').getByRole('textbox').fill('Doomed')
    assert.deepEqual(await accessibilityViolations(page), [])
    await confirm.click()
    await page.waitForURL(/policies$/)
    assert.equal((await scene.get(`${base}/${id}`, admin)).status, 404)
  })

  it('list the requests that a policy decided', async () => {
    const id = await scene.ask('the falcon again')
    await using view = await openPage(browser)
    const { page } = view
    await scene.signIn(page)
    await page.keyboard.press('Control+k')
    await page.getByRole('combobox').fill(scene.policyId)
    await page.keyboard.press('Enter')
    await page.getByRole('link', { name: 'Activity' }).click()
    await page.locator(`a[href*="${id}"]`).waitFor()
    await page.getByRole('row').filter({ hasText: 'Deny' }).first().waitFor()
    assert.deepEqual(await accessibilityViolations(page), [])
    await page.getByRole('link', { name: 'Open in Requests' }).click()
    await page.waitForURL(/requests\?.*policy_id=/)
  })

  it('can be read with a key that may change nothing', async () => {
    const id = await newPolicy('Read only')
    const key = { name: 'Reader', permissions: ['policies:read', 'audit:read'] }
    const created = await scene.post('/v1/organization/admin_api_keys', key, admin)
    const { value } = (await created.json()) as { value: string }
    await using view = await openPage(browser)
    const { page } = view
    await page.goto(`${scene.url}/console/policies/${id}`)
    await page.getByLabel('Administrator key').fill(value)
    await page.getByRole('button', { name: 'Sign in' }).click()
    const pause = page.getByRole('button', { name: 'Pause' })
    await pause.waitFor()
    assert.equal(await pause.isDisabled(), true)
    assert.equal(await pause.getAttribute('title'), 'You need the permission policies:publish.')
    assert.equal(await page.getByRole('button', { name: 'Save draft' }).isDisabled(), true)
    assert.equal(await page.getByRole('textbox', { name: 'Name' }).isDisabled(), true)
    assert.equal(await page.getByRole('button', { name: 'More actions' }).count(), 0)
  })

  it('work in both themes, at 390 pixels', async () => {
    const id = await newPolicy('Narrow')
    for (const colorScheme of ['light', 'dark'] as const) {
      await using view = await openPage(browser, { colorScheme, viewport: { width: 390, height: 844 } })
      const { page } = view
      await open(page, `/policies/${id}`)
      await editor(page).waitFor()
      await page.getByLabel('Text', { exact: true }).fill('a heron')
      await page.locator('mark').waitFor()
      assert.deepEqual(await accessibilityViolations(page), [], colorScheme)
      assert.equal(await page.evaluate('document.documentElement.scrollWidth'), 390)
      await page.goto(`${scene.url}/console/policies`)
      await page.getByRole('link', { name: 'Narrow' }).waitFor()
      assert.deepEqual(await accessibilityViolations(page), [], colorScheme)
    }
  })
})
