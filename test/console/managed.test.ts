import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Browser } from 'playwright-core'
import { accessibilityViolations, launchBrowser, openPage, withoutBrowser } from '../support/browser.ts'
import { openConsoleScene, type ConsoleScene } from '../support/console-scene.ts'

describe('resources that files manage, in the console', { skip: withoutBrowser }, () => {
  let browser: Browser
  let scene: ConsoleScene
  before(async () => {
    browser = await launchBrowser()
    scene = await openConsoleScene()
  })
  after(async () => {
    await scene[Symbol.asyncDispose]()
    await browser.close()
  })

  type Made = { readonly id: string; readonly revision: number; readonly state: string }
  const admin = () => ({ authorization: `Bearer ${scene.adminKey}` })
  const make = async (path: string, body: object): Promise<Made> => {
    const headers = { ...admin(), 'x-gatehouse-managed-by': 'platform-config' }
    return (await (await scene.post(path, body, headers)).json()) as Made
  }
  const notice = 'Managed from files (platform-config): change it there. The next apply overwrites changes made here.'

  it('say so on the page of a policy, which can still be paused', async () => {
    const policies = '/v1/organization/policies'
    const { id, revision } = await make(policies, { name: 'From files', rule: 'Never mention "Eagle".' })
    await make(`${policies}/${id}/publish`, { revision })
    await using open = await openPage(browser)
    const { page } = open
    await scene.openAt(page, `/policies/${id}`)
    await page.getByText(notice).waitFor()
    assert.deepEqual(await accessibilityViolations(page), [])
    await page.getByRole('button', { name: 'Pause', exact: true }).click()
    await page
      .getByRole('dialog')
      .getByRole('button', { name: /^Pause/ })
      .click()
    await page.getByRole('button', { name: 'Resume', exact: true }).waitFor()
    const policy = (await (await scene.get(`${policies}/${id}`, admin())).json()) as Made
    assert.equal(policy.state, 'paused')
    assert.deepEqual(open.errors, [])
  })

  it('say so on the page of the gateway configuration, and in the form of a project', async () => {
    await make('/api/policy-gateway/config', { rules: { denylist: ['falcon'] } })
    const { id } = await make('/v1/organization/projects', { name: 'Search' })
    await using open = await openPage(browser)
    const { page } = open
    await scene.openAt(page, '/gateway')
    await page.getByText(notice).waitFor()
    await page.goto(`${scene.url}/console/projects?tab=projects&dialog=edit&id=${id}`)
    await page.getByRole('dialog').getByText(notice).waitFor()
    assert.deepEqual(open.errors, [])
  })
})
