import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Browser } from 'playwright-core'
import { accessibilityViolations, launchBrowser, openPage, withoutBrowser } from '../support/browser.ts'
import { openConsoleScene, type ConsoleScene } from '../support/console-scene.ts'

const echo = { targets: [{ upstream: 'echo' }], price: { input: 1000, output: 1000 } }

describe('requests that a budget acted on, in the console', { skip: withoutBrowser }, () => {
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
    const admin = { authorization: `Bearer ${scene.adminKey}` }
    for (const [team, action] of [
      ['red', 'use_model:small-echo'],
      ['blue', 'deny'],
    ] as const) {
      const body = { name: `Team ${team}`, requests: 1, period: 'month', match: { tags: { team: [team] } }, action }
      const made = await scene.post('/v1/organization/budgets', body, admin)
      assert.equal(made.status, 201, await made.text())
    }
  })
  after(async () => {
    await scene[Symbol.asyncDispose]()
    await browser.close()
  })

  const ask = async (team: string): Promise<{ readonly status: number; readonly id: string }> => {
    const body = { model: 'gatehouse-echo', max_tokens: 20, messages: [{ role: 'user', content: 'Hello' }] }
    const headers = { authorization: `Bearer ${scene.apiKey}`, 'x-policy-tags': `team=${team}` }
    const response = await scene.post('/v1/messages', body, headers)
    await response.text()
    return { status: response.status, id: response.headers.get('x-request-id') ?? '' }
  }

  it('show their tags, and the budget that chose another model', async () => {
    const first = await ask('red')
    const second = await ask('red')
    assert.deepEqual([first.status, second.status], [200, 200])
    await using open = await openPage(browser)
    const { page } = open
    await scene.openAt(page, `/requests/${second.id}`)
    const drawer = page.getByRole('complementary', { name: 'Request' })
    await drawer.getByText('Tag team').waitFor()
    await drawer.getByText('The request asked for gatehouse-echo. The budget Team red did not cover it').waitFor()
    assert.deepEqual(await accessibilityViolations(page), [])
    await drawer.getByRole('link', { name: 'Team red' }).click()
    await page.getByRole('complementary', { name: 'Budget' }).getByText('Use small-echo').waitFor()
    await page.goto(`${scene.url}/console/requests/${first.id}`)
    await drawer.getByText('Tag team').waitFor()
    assert.equal(await drawer.getByText('Another model').count(), 0)
    assert.deepEqual(open.errors, [])
  })

  it('say in words that a budget does not cover them', async () => {
    await ask('blue')
    const { status, id } = await ask('blue')
    assert.equal(status, 429)
    await using open = await openPage(browser)
    const { page } = open
    await scene.openAt(page, `/requests/${id}`)
    await page.getByText(/a budget does not cover what it may cost \(budget_exceeded\)/).waitFor()
    assert.deepEqual(open.errors, [])
  })
})
