import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, before, describe, it } from 'node:test'
import type { Browser } from 'playwright-core'
import { accessibilityViolations, launchBrowser, openPage, withoutBrowser } from '../support/browser.ts'
import { openConsoleScene, type ConsoleScene } from '../support/console-scene.ts'

const echo = { targets: [{ upstream: 'echo' }], price: { input: 1000, output: 1000 } }

describe('costs in the console', { skip: withoutBrowser }, () => {
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
      },
    })
  })
  after(async () => {
    await scene[Symbol.asyncDispose]()
    await browser.close()
  })

  type Asked = { readonly model?: string; readonly user?: string; readonly team?: string }
  const ask = async ({ model = 'gatehouse-echo', user, team }: Asked): Promise<void> => {
    const body = {
      model,
      max_tokens: 20,
      messages: [{ role: 'user', content: 'Hello' }],
      ...(user !== undefined && { metadata: { user_id: user } }),
    }
    const headers = {
      authorization: `Bearer ${scene.apiKey}`,
      ...(team !== undefined && { 'x-policy-tags': `team=${team}` }),
    }
    const response = await scene.post('/v1/messages', body, headers)
    assert.equal(response.status, 200, await response.text())
  }

  it('say what to do while there are none', async () => {
    await using open = await openPage(browser)
    const { page } = open
    await scene.openAt(page, '/costs')
    await page.getByText('No costs in this time range').waitFor()
    assert.deepEqual(await accessibilityViolations(page), [])
    assert.deepEqual(open.errors, [])
  })

  it('are shown by project, key, model, user and tag, and lead to the requests', async () => {
    for (const user of ['ada', 'ada', 'ada', 'ben']) await ask({ user, team: user === 'ada' ? 'red' : 'blue' })
    await ask({ model: 'small-echo' })
    await using open = await openPage(browser)
    const { page } = open
    await scene.signIn(page)
    await page.getByRole('link', { name: 'Costs', exact: true }).click()
    await page.getByText(/^\$0\.\d+ for 5 requests$/).waitFor()
    await page.getByRole('row', { name: /Default project/ }).waitFor()
    assert.deepEqual(await accessibilityViolations(page), [])

    const by = page.getByRole('navigation', { name: 'Group by' })
    await by.getByRole('link', { name: 'Model' }).click()
    await page.waitForURL(/by=model/)
    const model = page.getByRole('row', { name: /gatehouse-echo/ })
    await model.getByRole('cell', { name: '80.0%' }).waitFor()
    await page
      .getByRole('row', { name: /small-echo/ })
      .getByRole('cell', { name: '20.0%' })
      .waitFor()
    await by.getByRole('link', { name: 'Tag team' }).click()
    await page.getByRole('row', { name: /^red/ }).getByRole('cell', { name: '60.0%' }).waitFor()
    await page.getByRole('row', { name: /^no tag team/ }).waitFor()
    assert.equal(await page.getByRole('row', { name: /^red/ }).getByRole('link').count(), 0)
    await by.getByRole('link', { name: 'End user' }).click()
    await page.getByRole('row', { name: /^ben/ }).getByRole('link').click()
    await page.waitForURL(/requests\?.*user_id=ben/)
    assert.deepEqual(open.errors, [])
  })

  it('are saved as CSV with all groups and days', async () => {
    await ask({ user: 'carol' })
    await using open = await openPage(browser)
    const { page } = open
    await scene.openAt(page, '/costs?by=user')
    await page.getByRole('row', { name: /^carol/ }).waitFor()
    const saved = page.waitForEvent('download')
    await page.getByRole('button', { name: 'Export CSV' }).click()
    const file = readFileSync(await (await saved).path(), 'utf8')
    assert.match(file, /^day,user_id,requests,.*cost_usd\r?\n/)
    assert.match(file, /,carol,1,/)
    assert.deepEqual(open.errors, [])
  })

  for (const width of [1_280, 390])
    it(`fit in ${width} pixels and in both themes`, async () => {
      await ask({ user: 'a-user-with-a-name-that-is-longer-than-most-names-of-users', team: 'red' })
      for (const colorScheme of ['light', 'dark'] as const) {
        await using open = await openPage(browser, { colorScheme, viewport: { width, height: 844 } })
        const { page } = open
        await scene.signIn(page)
        for (const by of ['project', 'user', 'tag:team']) {
          await page.goto(`${scene.url}/console/costs?range=7d&by=${by}`)
          await page.getByRole('table').waitFor()
          assert.deepEqual(await accessibilityViolations(page), [], `${colorScheme} ${by}`)
          assert.equal(await page.evaluate('document.documentElement.scrollWidth'), width, by)
        }
      }
    })
})
