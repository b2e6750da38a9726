import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { accessibilityViolations, launchBrowser, openPage, withoutBrowser } from '../support/browser.ts'
import { openConsoleScene, type ConsoleScene } from '../support/console-scene.ts'

const hello = { model: 'gatehouse-echo', max_tokens: 100, messages: [{ role: 'user', content: 'Hello' }] }

/** All tests share one administrator key. */
const many = { requests_per_minute: 10_000, concurrent_requests: 1_000 }

describe('projects and keys in the console', { skip: withoutBrowser }, () => {
  let browser: Browser
  let scene: ConsoleScene
  before(async () => {
    browser = await launchBrowser()
    scene = await openConsoleScene({
      config: {
        administration: { credential: many, console: many, organization: many },
        upstreams: [{ name: 'echo', kind: 'echo' }],
        models: ['gatehouse-echo', 'other', 'lab-*'].map((name) => ({ name, targets: [{ upstream: 'echo' }] })),
      },
    })
  })
  after(async () => {
    await scene[Symbol.asyncDispose]()
    await browser.close()
  })

  const openProjects = async (page: Page, address = ''): Promise<void> => {
    await scene.openAt(page, `/projects${address}`)
    await page.getByRole('navigation', { name: 'Sections' }).waitFor()
  }
  const statusWith = async (secret: string): Promise<number> => {
    const response = await scene.post('/v1/messages', hello, { authorization: `Bearer ${secret}` })
    await response.text()
    return response.status
  }
  const newKey = async (name: string, body: object = {}): Promise<{ id: string; value: string }> => {
    const response = await scene.post(
      `/v1/organization/projects/${scene.projectId}/api_keys`,
      { name, ...body },
      admin(),
    )
    return (await response.json()) as { id: string; value: string }
  }
  const admin = () => ({ authorization: `Bearer ${scene.adminKey}` })
  /** The secret that the open dialog shows. */
  const shownSecret = async (page: Page, name: string): Promise<string> => {
    const dialog = page.getByRole('dialog', { name: `The secret of ${name}` })
    return (await dialog.locator('pre').first().textContent()) ?? ''
  }

  it('make a key with a snippet in three clicks', async () => {
    await using open = await openPage(browser)
    const { page } = open
    await scene.signIn(page)
    await page.getByRole('link', { name: 'Projects and keys' }).click()
    await page.getByRole('button', { name: 'Create API key' }).click()
    const form = page.getByRole('dialog', { name: 'Create API key' })
    await form.getByLabel('Name').fill('Support chat')
    assert.deepEqual(await accessibilityViolations(page), [])
    await form.getByRole('button', { name: 'Create API key' }).click()
    const secret = await shownSecret(page, 'Support chat')
    assert.equal(await statusWith(secret), 200)
    await page.getByText(`x-api-key: ${secret}`).waitFor()
    await page.getByRole('button', { name: 'OpenAI SDK' }).click()
    await page.getByText(`apiKey: '${secret}'`).waitFor()
    await page.getByRole('button', { name: 'Anthropic SDK' }).click()
    await page.getByText('client.messages.create').waitFor()
    assert.deepEqual(await accessibilityViolations(page), [])
    assert.ok(!page.url().includes(secret))
    await page.getByRole('button', { name: 'I copied it' }).click()
    await page.getByRole('link', { name: 'Support chat' }).waitFor()
    assert.equal(await page.getByText(secret).count(), 0)
    assert.deepEqual(open.errors, [])
  })

  it('ask before the secret is closed unread, and show code with the address of inference', async () => {
    const limits = { credential: many, console: many, organization: many }
    await using apart = await openConsoleScene({ config: { server: { admin_port: 0 }, administration: limits } })
    await using open = await openPage(browser)
    const { page } = open
    await apart.openAt(page, '/projects?dialog=create')
    await page.getByLabel('Name', { exact: true }).fill('Careful')
    await page.keyboard.press('Enter')
    const dialog = page.getByRole('dialog', { name: 'The secret of Careful' })
    await dialog.getByText(`curl ${apart.addresses.api}/v1/messages`).waitFor()
    await page.keyboard.press('Escape')
    await page.keyboard.press('Escape')
    await dialog.getByText(/Did you copy the secret/).waitFor()
    assert.deepEqual(await accessibilityViolations(page), [])
    await dialog.getByRole('button', { name: 'Close without copying' }).click()
    await dialog.waitFor({ state: 'detached' })
  })

  it('show the request of the form as curl and as a command', async () => {
    await using open = await openPage(browser)
    const { page } = open
    await openProjects(page, '?dialog=create')
    const form = page.getByRole('dialog', { name: 'Create API key' })
    await form.getByLabel('Name').fill("Ann's bot")
    await form.getByLabel('gatehouse-echo').check()
    await form.getByLabel('other', { exact: true }).check()
    await form.getByText('Only these 2 models.').waitFor()
    await form.getByLabel('Allowed addresses').fill('203.0.113.0/24')
    await form.getByText('curl and command line').click()
    await form.getByText(`"models":["gatehouse-echo","other"]`).waitFor()
    await form.getByText(`--name 'Ann'\\''s bot' --models gatehouse-echo,other --allow-ip 203.0.113.0/24`).waitFor()
  })

  it('put errors of the server at their field', async () => {
    await using open = await openPage(browser)
    const { page } = open
    await openProjects(page, '?dialog=create')
    const form = page.getByRole('dialog', { name: 'Create API key' })
    await form.getByLabel('Name').fill('Wrong')
    await form.getByLabel('Allowed addresses').fill('not-an-address')
    await form.getByRole('button', { name: 'Create API key' }).click()
    const field = form.getByLabel('Allowed addresses')
    await form.getByRole('alert').waitFor()
    assert.equal(await field.getAttribute('aria-invalid'), 'true')
  })

  it('rotate a secret with a grace time, in which both secrets work', async () => {
    const { value: old } = await newKey('Rotated')
    await using open = await openPage(browser)
    const { page } = open
    await openProjects(page)
    await page.getByRole('button', { name: 'Actions for Rotated' }).click()
    await page.getByRole('menuitem', { name: 'Rotate secret' }).click()
    const form = page.getByRole('dialog', { name: 'Rotate the secret of Rotated' })
    await form.getByLabel('The old secret works').selectOption('for another hour')
    assert.deepEqual(await accessibilityViolations(page), [])
    await form.getByRole('button', { name: 'Rotate secret' }).click()
    const secret = await shownSecret(page, 'Rotated')
    await page.getByText(/The old secret works until/).waitFor()
    assert.notEqual(secret, old)
    assert.deepEqual([await statusWith(old), await statusWith(secret)], [200, 200])
    await page.getByRole('button', { name: 'I copied it' }).click()
    await page
      .getByRole('row', { name: /Rotated/ })
      .getByText('Rotating')
      .waitFor()
  })

  it('revoke a key only after its name was typed', async () => {
    const { value: secret } = await newKey('Leaked')
    await using open = await openPage(browser)
    const { page } = open
    await openProjects(page)
    await page.getByRole('button', { name: 'Actions for Leaked' }).click()
    await page.getByRole('menuitem', { name: 'Revoke' }).click()
    const form = page.getByRole('dialog', { name: 'Revoke Leaked' })
    const button = form.getByRole('button', { name: 'Revoke Leaked' })
    assert.equal(await button.isDisabled(), true)
    await form.getByLabel('Type Leaked to confirm').fill('Leaked')
    assert.deepEqual(await accessibilityViolations(page), [])
    await button.click()
    await form.waitFor({ state: 'detached' })
    assert.equal(await statusWith(secret), 401)
    await page.getByText('Leaked').first().waitFor({ state: 'detached' })
    await page.getByLabel('Status').selectOption('Revoked')
    await page.waitForURL(/status=revoked/)
    await page
      .getByRole('row', { name: /Leaked/ })
      .getByText('Revoked')
      .waitFor()
  })

  it('change a key, and say that nothing is changed before', async () => {
    const { value: secret } = await newKey('Restricted')
    await using open = await openPage(browser)
    const { page } = open
    await openProjects(page)
    await page.getByRole('link', { name: 'Restricted' }).click()
    const form = page.getByRole('dialog', { name: 'Edit Restricted' })
    await form.getByText('No changes yet.').waitFor()
    assert.equal(await form.getByRole('button', { name: 'Save changes' }).isDisabled(), true)
    await form.getByLabel('other', { exact: true }).check()
    assert.deepEqual(await accessibilityViolations(page), [])
    await form.getByRole('button', { name: 'Save changes' }).click()
    await form.waitFor({ state: 'detached' })
    await page.getByRole('cell', { name: 'other', exact: true }).waitFor()
    assert.notEqual(await statusWith(secret), 200)
  })

  it('choose models out of the catalogue, and say which of a key are not in it', async () => {
    const created = await scene.post(
      `/v1/organization/projects/${scene.projectId}/api_keys`,
      { name: 'Old bot', models: ['vendor-gone'] },
      admin(),
    )
    assert.equal(created.status, 201)
    await using open = await openPage(browser)
    const { page } = open
    await openProjects(page)
    await page.getByRole('link', { name: 'Old bot' }).click()
    const form = page.getByRole('dialog', { name: 'Edit Old bot' })
    const models = form.getByRole('group', { name: 'Models' })
    await models.getByLabel(/vendor-gone/).waitFor()
    await models.getByLabel('Search models').fill('gone')
    await models.getByLabel('other', { exact: true }).waitFor({ state: 'detached' })
    await models.getByText('Not in the catalogue').waitFor()
    await models.getByLabel('Search models').fill('lab-tiny')
    await models.getByRole('button', { name: 'Add lab-tiny' }).click()
    await models.getByLabel('lab-tiny').waitFor()
    assert.equal(await models.getByText('Not in the catalogue').count(), 1)
    await models.getByLabel(/vendor-gone/).uncheck()
    assert.deepEqual(await accessibilityViolations(page), [])
    await form.getByRole('button', { name: 'Save changes' }).click()
    await page.getByRole('cell', { name: 'lab-tiny' }).waitFor()
  })

  it('create, rename, archive and unarchive a project, and name the keys that stop', async () => {
    await using open = await openPage(browser)
    const { page } = open
    await openProjects(page, '?tab=projects')
    await page.getByRole('button', { name: 'Create project' }).click()
    await page.getByLabel('Name', { exact: true }).fill('Research')
    assert.deepEqual(await accessibilityViolations(page), [])
    await page.getByRole('dialog').getByRole('button', { name: 'Create project' }).click()
    await chooseAction(page, 'Research', 'Rename')
    await page.getByLabel('Name', { exact: true }).fill('Research lab')
    await page.getByRole('dialog').getByRole('button', { name: 'Rename' }).click()
    await page.getByRole('link', { name: 'Research lab' }).waitFor()
    const id = await idOfProject('Research lab')
    const created = await scene.post(`/v1/organization/projects/${id}/api_keys`, { name: 'Notebook' }, admin())
    const { value: secret } = (await created.json()) as { value: string }
    await chooseAction(page, 'Research lab', 'Archive')
    await page.getByText('Affected: 1 active key: Notebook.').waitFor()
    assert.deepEqual(await accessibilityViolations(page), [])
    await page.getByRole('button', { name: 'Archive Research lab' }).click()
    await page
      .getByRole('row', { name: /Research lab/ })
      .getByText('Archived')
      .waitFor()
    assert.equal(await statusWith(secret), 401)
    await chooseAction(page, 'Research lab', 'Unarchive')
    await page.getByRole('button', { name: 'Unarchive Research lab' }).click()
    await page
      .getByRole('row', { name: /Research lab/ })
      .getByText('Active')
      .waitFor()
    assert.equal(await statusWith(secret), 200)
  })
  const chooseAction = async (page: Page, name: string, action: string): Promise<void> => {
    await page.getByRole('button', { name: `Actions for ${name}`, exact: true }).click()
    await page.getByRole('menuitem', { name: action, exact: true }).click()
  }
  const idOfProject = async (name: string): Promise<string> => {
    const headers = admin()
    const response = await fetch(`${scene.url}/v1/organization/projects?search=${encodeURIComponent(name)}`, {
      headers,
    })
    return ((await response.json()) as { data: [{ id: string }] }).data[0].id
  }

  it('keep the tab and the filters in the address', async () => {
    await newKey('Alpha service')
    await newKey('Beta service')
    await using open = await openPage(browser)
    const { page } = open
    await openProjects(page)
    await page.getByLabel('Search by name').fill('alpha')
    await page.waitForURL(/search=alpha/)
    await page.getByRole('link', { name: 'Beta service' }).waitFor({ state: 'detached' })
    await page.reload()
    await page.getByRole('link', { name: 'Alpha service' }).waitFor()
    assert.equal(await page.getByRole('link', { name: 'Beta service' }).count(), 0)
    assert.equal(await page.getByRole('link', { name: 'API keys', exact: true }).getAttribute('aria-current'), 'page')
    await page.getByRole('link', { name: 'Administrator keys' }).click()
    await page.waitForURL(/tab=administrators$/)
    await page.goBack()
    await page.getByRole('link', { name: 'Alpha service' }).waitFor()
  })

  it('make an administrator key only with chosen permissions', async () => {
    await using open = await openPage(browser)
    const { page } = open
    await openProjects(page, '?tab=administrators&dialog=create')
    const form = page.getByRole('dialog', { name: 'Create administrator key' })
    await form.getByLabel('Name').fill('Auditor')
    await form.getByRole('button', { name: 'Create administrator key' }).click()
    await form.getByRole('alert').waitFor()
    await form.getByRole('checkbox', { name: /^audit:read/ }).check()
    assert.deepEqual(await accessibilityViolations(page), [])
    await form.getByRole('button', { name: 'Create administrator key' }).click()
    const secret = await shownSecret(page, 'Auditor')
    const me = await fetch(`${scene.url}/v1/organization/me`, { headers: { authorization: `Bearer ${secret}` } })
    assert.deepEqual(((await me.json()) as { permissions: string[] }).permissions, ['audit:read'])
  })

  it('make an administrator key with a role', async () => {
    await using open = await openPage(browser)
    const { page } = open
    await openProjects(page, '?tab=administrators&dialog=create')
    const form = page.getByRole('dialog', { name: 'Create administrator key' })
    await form.getByLabel('Name').fill('Reports')
    await form.getByLabel('Role').selectOption('billing')
    assert.equal(await form.getByRole('checkbox').count(), 0)
    await form.getByText('curl and command line').click()
    await form.getByText('gatehouse keys create --admin --name Reports --role billing').waitFor()
    assert.deepEqual(await accessibilityViolations(page), [])
    await form.getByRole('button', { name: 'Create administrator key' }).click()
    const headers = { authorization: `Bearer ${await shownSecret(page, 'Reports')}` }
    const me = await fetch(`${scene.url}/v1/organization/me`, { headers })
    assert.ok(((await me.json()) as { permissions: string[] }).permissions.includes('usage:read'))
  })

  it('offer no change to a key that may only read, and say why', async () => {
    const { id } = await newKey('Untouchable')
    const body = { name: 'Reader', permissions: ['keys:read', 'projects:read'] }
    const created = await scene.post('/v1/organization/admin_api_keys', body, admin())
    const { value: secret } = (await created.json()) as { value: string }
    await using open = await openPage(browser)
    const { page } = open
    await page.goto(`${scene.url}/console/projects?dialog=revoke&id=${id}`)
    await page.getByLabel('Administrator key').fill(secret)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByText('Read-only. You need the permission keys:write to make changes.').waitFor()
    await page.getByRole('cell', { name: 'Untouchable', exact: true }).waitFor()
    const create = page.getByRole('button', { name: 'Create API key' })
    assert.equal(await create.isDisabled(), true)
    assert.equal(await create.getAttribute('title'), 'You need the permission keys:write.')
    assert.equal(await page.getByRole('dialog').count(), 0)
    assert.equal(await page.getByRole('menuitem', { name: 'Revoke' }).count(), 0)
    assert.deepEqual(await accessibilityViolations(page), [])
  })

  it('work in both themes, at 390 pixels, and by keyboard', async () => {
    await newKey('Narrow')
    for (const colorScheme of ['light', 'dark'] as const) {
      await using open = await openPage(browser, { colorScheme, viewport: { width: 390, height: 844 } })
      const { page } = open
      await openProjects(page)
      await page.getByRole('row', { name: /Narrow/ }).waitFor()
      assert.deepEqual(await accessibilityViolations(page), [], colorScheme)
      assert.equal(await page.evaluate('document.documentElement.scrollWidth'), 390)
      await page.getByRole('button', { name: 'Actions for Narrow' }).focus()
      await page.keyboard.press('Enter')
      await page.getByRole('menuitem', { name: 'Edit' }).waitFor()
      await page.keyboard.press('ArrowDown')
      await page.keyboard.press('Enter')
      const grace = page.getByRole('dialog').getByLabel('The old secret works')
      await grace.waitFor()
      assert.equal(await page.evaluate('document.activeElement.labels?.[0]?.textContent'), 'The old secret works')
      assert.deepEqual(await accessibilityViolations(page), [], colorScheme)
      assert.equal(await page.evaluate('document.documentElement.scrollWidth'), 390)
      await page.keyboard.press('Escape')
      await page.getByRole('dialog').waitFor({ state: 'detached' })
      assert.equal(await page.evaluate('document.activeElement.ariaLabel'), 'Actions for Narrow')
    }
  })
})
