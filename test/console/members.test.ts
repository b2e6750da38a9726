import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { accessibilityViolations, launchBrowser, openPage, withoutBrowser } from '../support/browser.ts'
import { newLink } from '../support/console.ts'
import { openConsoleScene, type ConsoleScene } from '../support/console-scene.ts'
import { startOidcProvider, type OidcPerson, type OidcProvider } from '../support/oidc-provider.ts'

/** All tests share one administrator key. */
const many = { requests_per_minute: 10_000, concurrent_requests: 1_000 }

describe('members in the console', { skip: withoutBrowser }, () => {
  let browser: Browser
  let provider: OidcProvider
  let scene: ConsoleScene
  before(async () => {
    browser = await launchBrowser()
    provider = await startOidcProvider()
    const oidc = {
      issuer: provider.issuer,
      client_id: provider.clientId,
      client_secret: provider.clientSecret,
      name: 'Example ID',
      roles: { admins: 'owner', readers: 'auditor' },
    }
    scene = await openConsoleScene({
      config: { console: { oidc }, administration: { credential: many, console: many, organization: many } },
    })
  })
  after(async () => {
    await scene[Symbol.asyncDispose]()
    await provider[Symbol.asyncDispose]()
    await browser.close()
  })

  const admin = () => ({ authorization: `Bearer ${scene.adminKey}` })
  const openMembers = async (page: Page, query = ''): Promise<void> => {
    await scene.openAt(page, `/members${query}`)
    await page.getByRole('navigation', { name: 'Sections' }).waitFor()
  }
  const invite = async (body: object): Promise<string> => {
    const response = await scene.post('/v1/organization/members', body, admin())
    return ((await response.json()) as { id: string }).id
  }
  const signInAs = async (page: Page, person: OidcPerson, path = ''): Promise<void> => {
    provider.person = person
    await page.goto(`${scene.url}/console/${path}`)
    await page.getByRole('link', { name: 'Sign in with Example ID' }).click()
  }

  it('are invited in three clicks', async () => {
    await using open = await openPage(browser)
    const { page } = open
    await scene.signIn(page)
    await page.getByRole('link', { name: 'Members' }).click()
    await page.getByText('No members yet').waitFor()
    assert.deepEqual(await accessibilityViolations(page), [])
    await page.getByRole('button', { name: 'Invite member' }).first().click()
    const form = page.getByRole('dialog', { name: 'Invite member' })
    await form.getByLabel('Email').fill('Grace@example.com')
    await form.getByLabel('Role').selectOption('publisher')
    await form.getByText('curl and command line').click()
    await form.getByText('gatehouse members add --email Grace@example.com --role publisher').waitFor()
    assert.deepEqual(await accessibilityViolations(page), [])
    await form.getByRole('button', { name: 'Invite member' }).click()
    const row = page.getByRole('row', { name: /grace@example\.com/ })
    await row.getByText('Invited').waitFor()
    await row.getByText('publisher').waitFor()
    assert.deepEqual(open.errors, [])
  })

  it('put errors of the server at their field', async () => {
    await invite({ email: 'twice@example.com', role: 'auditor' })
    await using open = await openPage(browser)
    const { page } = open
    await openMembers(page, '?dialog=invite')
    const form = page.getByRole('dialog', { name: 'Invite member' })
    await form.getByLabel('Email').fill('twice@example.com')
    await form.getByRole('button', { name: 'Invite member' }).click()
    await form.getByRole('alert').waitFor()
    assert.equal(await form.getByLabel('Email').getAttribute('aria-invalid'), 'true')
  })

  it('sign in through the identity provider, and come back to the page that they wanted', async () => {
    await using open = await openPage(browser)
    const { page } = open
    await signInAs(page, { sub: 'm1', name: 'Mary Jackson', groups: ['admins'] }, 'members?tab=signIns')
    await page
      .getByRole('row', { name: /Mary Jackson/ })
      .getByText('This browser')
      .waitFor()
    assert.deepEqual(await page.locator('nav a[aria-current]').allTextContents(), ['Members', 'Sign-ins'])
    assert.equal(new URL(page.url()).pathname + new URL(page.url()).search, '/console/members?tab=signIns')
    assert.deepEqual(await accessibilityViolations(page), [])
    assert.deepEqual(open.errors, [])
  })

  it('whose session ended sign in again in a new tab, and the page goes on where it was', async () => {
    await using open = await openPage(browser)
    const { page } = open
    await signInAs(page, { sub: 'm5', name: 'Evelyn', groups: ['admins'] }, 'members?dialog=invite')
    const form = page.getByRole('dialog', { name: 'Invite member' })
    await form.getByLabel('Email').fill('typed@example.com')
    await page.context().clearCookies()
    // A request in the background may open the dialog first, which would keep the pointer from the button.
    await form.getByRole('button', { name: 'Invite member' }).dispatchEvent('click')
    const again = page.getByRole('dialog', { name: 'Sign in again' })
    await again.waitFor()
    assert.deepEqual(await accessibilityViolations(page), [])
    const [tab] = await Promise.all([
      page.context().waitForEvent('page'),
      again.getByRole('link', { name: 'Sign in with Example ID' }).click(),
    ])
    await tab.locator('#page').waitFor()
    await page.evaluate("window.dispatchEvent(new Event('focus'))") // headless tabs always have the focus
    await again.waitFor({ state: 'detached' })
    assert.equal(await form.getByLabel('Email').inputValue(), 'typed@example.com')
  })

  it('learn on the sign-in page why they are refused', async () => {
    await using open = await openPage(browser)
    const { page } = open
    await signInAs(page, { sub: 'stranger' })
    await page.getByRole('alert').filter({ hasText: 'you have no role here' }).waitFor()
    assert.deepEqual(await accessibilityViolations(page), [])
    await page.getByLabel('Administrator key').waitFor()
    assert.equal(new URL(page.url()).hash, '')
  })

  it('get another role, which counts in their open page at once', async () => {
    const id = await invite({ subject: 'm2', name: 'Annie', role: 'owner' })
    await using open = await openPage(browser)
    await using theirs = await openPage(browser)
    await signInAs(theirs.page, { sub: 'm2', name: 'Annie' }, 'members')
    await theirs.page.getByRole('button', { name: 'Invite member' }).waitFor()
    const { page } = open
    await openMembers(page)
    await page.getByRole('link', { name: 'Annie' }).click()
    const form = page.getByRole('dialog', { name: 'Change Annie' })
    await form.getByLabel('Role').selectOption('auditor')
    assert.deepEqual(await accessibilityViolations(page), [])
    await form.getByRole('button', { name: 'Save changes' }).click()
    await form.waitFor({ state: 'detached' })
    await theirs.page.reload()
    await theirs.page.getByText('You need the permission members:write to make changes').waitFor()
    assert.equal(await theirs.page.getByRole('button', { name: 'Invite member' }).isDisabled(), true)
    await theirs.page.goto(`${scene.url}/console/members?dialog=remove&id=${id}`)
    await theirs.page.getByRole('row', { name: /Annie/ }).waitFor()
    assert.equal(await theirs.page.getByRole('dialog').count(), 0)
  })

  it('are suspended and signed out, and removed only after their name was typed', async () => {
    await invite({ subject: 'm3', name: 'Dorothy', role: 'auditor' })
    await using open = await openPage(browser)
    await using theirs = await openPage(browser)
    await signInAs(theirs.page, { sub: 'm3', name: 'Dorothy' }, 'members')
    await theirs.page.getByText('to make changes').waitFor()
    const { page } = open
    await openMembers(page)
    await page.getByRole('button', { name: 'Actions for Dorothy' }).click()
    await page.getByRole('menuitem', { name: 'Suspend' }).click()
    assert.deepEqual(await accessibilityViolations(page), [])
    await page.getByRole('button', { name: 'Suspend Dorothy' }).click()
    await page
      .getByRole('row', { name: /Dorothy/ })
      .getByText('Suspended')
      .waitFor()
    await theirs.page.reload()
    await theirs.page.getByRole('link', { name: 'Sign in with Example ID' }).click()
    await theirs.page.getByRole('alert').filter({ hasText: 'suspended' }).waitFor()
    await page.getByRole('button', { name: 'Actions for Dorothy' }).click()
    await page.getByRole('menuitem', { name: 'Remove' }).click()
    const form = page.getByRole('dialog', { name: 'Remove Dorothy' })
    const remove = form.getByRole('button', { name: 'Remove Dorothy' })
    assert.equal(await remove.isDisabled(), true)
    await form.getByLabel('Type Dorothy to confirm').fill('Dorothy')
    assert.deepEqual(await accessibilityViolations(page), [])
    await remove.click()
    await page.getByRole('row', { name: /Dorothy/ }).waitFor({ state: 'detached' })
  })

  it('are signed out by ending their sign-in', async () => {
    await using open = await openPage(browser)
    await using theirs = await openPage(browser)
    await signInAs(theirs.page, { sub: 'm4', name: 'Katherine', groups: ['readers'] }, 'members')
    await theirs.page.getByText('to make changes').waitFor()
    const { page } = open
    await openMembers(page, '?tab=signIns')
    await page.getByRole('button', { name: 'End the sign-in of Katherine' }).click()
    const form = page.getByRole('dialog', { name: 'End the sign-in of Katherine' })
    await form.getByText('curl and command line').click()
    await form.getByText(/gatehouse sign-ins end ses_/).waitFor()
    await form.getByRole('button', { name: 'End the sign-in of Katherine' }).click()
    await page.getByRole('row', { name: /Katherine/ }).waitFor({ state: 'detached' })
    await theirs.page.reload()
    await theirs.page.getByRole('heading', { name: 'Sign in' }).waitFor()
  })

  it('show what each role may do, also to a key without the permission to see members', async () => {
    const key = { name: 'Reader', permissions: ['audit:read'] }
    const response = await scene.post('/v1/organization/admin_api_keys', key, admin())
    const { id } = (await response.json()) as { id: string }
    await using open = await openPage(browser)
    const { page } = open
    await page.goto(`${scene.url}/console/#start=${await newLink(scene, id)}`)
    await page.locator('#page').waitFor()
    await page.getByRole('link', { name: 'Members' }).click()
    await page.getByText('You need members:read to see this').waitFor()
    await page.getByRole('link', { name: 'Roles' }).click()
    await page.getByRole('heading', { name: 'publisher' }).waitFor()
    await page.getByText('policies:publish').first().waitFor()
    assert.deepEqual(await accessibilityViolations(page), [])
  })

  for (const colorScheme of ['light', 'dark'] as const)
    it(`fit a narrow screen, ${colorScheme}`, async () => {
      await invite({ email: `narrow-${colorScheme}@example.com`, name: 'N'.repeat(80), role: 'developer' })
      await using open = await openPage(browser, { viewport: { width: 390, height: 844 }, colorScheme })
      const { page } = open
      for (const tab of ['', '?tab=roles', '?tab=signIns', '?dialog=invite']) {
        await openMembers(page, tab)
        await page.waitForLoadState('networkidle')
        const overflow = await page.evaluate(
          'document.documentElement.scrollWidth - document.documentElement.clientWidth',
        )
        assert.equal(overflow, 0, tab)
        assert.deepEqual(await accessibilityViolations(page), [], tab)
      }
      assert.deepEqual(open.errors, [])
    })
})
