import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Browser } from 'playwright-core'
import { templates } from '../../console/src/pages/policies/templates.ts'
import { accessibilityViolations, launchBrowser, openPage, withoutBrowser } from '../support/browser.ts'
import { openConsoleScene, type ConsoleScene } from '../support/console-scene.ts'

type Created = { id: string; name: string; draft: { rule: string; mode: string; scope: string; project_ids: string[] } }

const limits = { requests_per_minute: 10_000, concurrent_requests: 100 }
const config = { administration: { credential: limits, organization: limits } }

describe('the templates of policies', () => {
  let scene: ConsoleScene
  before(async () => void (scene = await openConsoleScene({ config })))
  after(() => scene[Symbol.asyncDispose]())

  for (const { id, rule, direction, matching, harmless } of templates) {
    it(`${id} can be evaluated, matches its example, and nothing harmless`, async () => {
      const admin = { authorization: `Bearer ${scene.adminKey}` }
      const checked = await scene.post('/v1/organization/policies/check', { rule }, admin)
      const { evaluable, problems } = (await checked.json()) as { evaluable: boolean; problems: unknown[] }
      assert.deepEqual([evaluable, problems], [true, []])
      const decisionOn = async (text: string): Promise<unknown> => {
        const scenario = { text, direction: direction === 'both' ? 'request' : direction }
        const body = { gateway: {}, policies: [{ rule, direction }], scenario }
        const answer = await (await scene.post('/v1/organization/evaluate', body, admin)).json()
        const { outcomes } = answer as { outcomes: { check: string; decision: string }[] }
        return outcomes.find(({ check }) => check === 'policy')?.decision
      }
      assert.equal(await decisionOn(matching), 'refuse')
      assert.equal(await decisionOn(harmless), 'allow')
    })
  }
})

describe('creating a policy in the console', { skip: withoutBrowser }, () => {
  let browser: Browser
  let scene: ConsoleScene
  let admin: { authorization: string }
  before(async () => {
    browser = await launchBrowser()
    scene = await openConsoleScene({ config })
    admin = { authorization: `Bearer ${scene.adminKey}` }
  })
  after(async () => {
    await scene[Symbol.asyncDispose]()
    await browser.close()
  })

  const read = async (address: string): Promise<Created> => {
    const id = /pol_\w+/.exec(address)?.[0] ?? ''
    return (await (await scene.get(`/v1/organization/policies/${id}`, admin)).json()) as Created
  }

  it('starts from a template, in monitoring', async () => {
    await using view = await openPage(browser)
    const { page } = view
    await scene.openAt(page, '/policies')
    await page.getByRole('button', { name: 'New policy' }).click()
    await page.getByRole('combobox', { name: 'Start from' }).selectOption('Secrets in prompts')
    await page.waitForURL(/create=secrets/)
    assert.equal(await page.getByRole('dialog').getByLabel('Name').inputValue(), 'Secrets in prompts')
    assert.deepEqual(await accessibilityViolations(page), [])
    await page.getByRole('button', { name: 'Create draft' }).click()
    await page.getByRole('heading', { name: 'Secrets in prompts' }).waitFor()
    const { draft } = await read(page.url())
    assert.equal(draft.rule, templates.find(({ id }) => id === 'secrets')?.rule)
    assert.equal(draft.mode, 'monitoring')
    assert.deepEqual(view.errors, [])
  })

  it('starts from a denied request, with the rule that denied it, in the project of the request', async () => {
    const requestId = await scene.ask('the falcon')
    await using view = await openPage(browser)
    const { page } = view
    await scene.openAt(page, `/policies?create=${requestId}`)
    const dialog = page.getByRole('dialog', { name: 'New policy' })
    await dialog.getByLabel('Rule').waitFor()
    assert.deepEqual(await accessibilityViolations(page), [])
    await dialog.getByRole('button', { name: 'Create draft' }).click()
    await page.getByText('Try it').waitFor()
    const { name, draft } = await read(page.url())
    assert.equal(name, `No code names, like request …${requestId.slice(-6)}`)
    assert.equal(draft.rule, 'cel:text.contains("falcon") ? 1.0 : 0.0')
    assert.deepEqual([draft.mode, draft.scope, draft.project_ids], ['monitoring', 'projects', [scene.projectId]])
    assert.deepEqual(view.errors, [])
  })

  it('starts from an allowed request without a rule, and says so', async () => {
    const requestId = await scene.ask('nothing special')
    await using view = await openPage(browser, { viewport: { width: 390, height: 844 }, colorScheme: 'dark' })
    const { page } = view
    await scene.openAt(page, `/requests/${requestId}`)
    await page.getByRole('link', { name: 'Create a policy from this request' }).click()
    await page.getByText('No check found anything in this request').waitFor()
    assert.deepEqual(await accessibilityViolations(page), [])
    assert.equal(await page.evaluate('document.documentElement.scrollWidth'), 390)
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    assert.ok(!page.url().includes('create='))
  })

  it('is not offered to a key that may only read', async () => {
    const requestId = await scene.ask('something else')
    const key = { name: 'Reader', permissions: ['policies:read', 'audit:read'] }
    const created = await scene.post('/v1/organization/admin_api_keys', key, admin)
    const { value } = (await created.json()) as { value: string }
    await using view = await openPage(browser)
    const { page } = view
    await page.goto(`${scene.url}/console/requests/${requestId}`)
    await page.getByLabel('Administrator key').fill(value)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByText('Timeline').waitFor()
    assert.equal(await page.getByRole('link', { name: 'Create a policy from this request' }).count(), 0)
  })
})
