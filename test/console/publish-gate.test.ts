import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Browser } from 'playwright-core'
import { accessibilityViolations, launchBrowser, openPage, withoutBrowser } from '../support/browser.ts'
import { openConsoleScene, type ConsoleScene } from '../support/console-scene.ts'

const base = '/v1/organization/policies'

describe('the publish gate in the console', { skip: withoutBrowser }, () => {
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

  async function newPolicy(name: string, expect: string): Promise<string> {
    const created = await scene.post(base, { name, rule: 'Never mention "Falcon".', mode: 'enforcing' }, admin)
    const { id } = (await created.json()) as { id: string }
    await scene.post(`${base}/${id}/cases`, { says: 'asked', given: { text: 'What is Falcon?' }, expect }, admin)
    return id
  }

  it('names the checks of a draft, and keeps one that fails from being published without a reason', async () => {
    const id = await newPolicy('Failing', 'no_match')
    await using view = await openPage(browser)
    const { page } = view
    await scene.openAt(page, `/policies/${id}`)
    await page.getByRole('link', { name: 'Gate', exact: true }).click()
    await page.getByText('Not run on this draft yet').waitFor()
    await page.getByRole('button', { name: 'Run the gate' }).click()
    await page.getByText('1 of 1 case that must pass failed.').waitFor()
    await page.getByText('Not passed').waitFor()
    assert.deepEqual(await accessibilityViolations(page), [])

    await page.getByRole('link', { name: 'Edit', exact: true }).click()
    await page.getByRole('button', { name: 'Publish v1' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('button', { name: 'Publish v1' }).click()
    await dialog.getByText('has not passed the publish gate').waitFor()
    await dialog.getByLabel('Publish anyway, because').fill('Too short')
    await dialog.getByRole('button', { name: 'Publish v1', exact: true }).waitFor()
    await dialog.getByLabel('Publish anyway, because').fill('A leak is going on')
    assert.deepEqual(await accessibilityViolations(page), [])
    await dialog.getByRole('button', { name: 'Override and publish v1' }).click()
    await dialog.waitFor({ state: 'detached' })
    await page.getByText('enforcing', { exact: false }).first().waitFor()
    assert.deepEqual(
      view.errors.filter((error) => !error.includes('409')),
      [],
    )
  })

  it('lets a draft through that passes, and says when a run is stale', async () => {
    const id = await newPolicy('Passing', 'match')
    await using view = await openPage(browser)
    const { page } = view
    await scene.openAt(page, `/policies/${id}/gate`)
    await page.getByRole('button', { name: 'Run the gate' }).click()
    await page.getByText('The case that must pass did.').waitFor()
    await scene.post(`${base}/${id}/cases`, { says: 'more', given: { text: 'Falcon' }, expect: 'match' }, admin)
    await page.reload()
    await page.getByText('have changed since this run').waitFor()
    assert.deepEqual(view.errors, [])
  })

  it('can be run on the mode that the rollout has saved and the gate has rejected', async () => {
    const created = await scene.post(base, { name: 'Rolled out', rule: 'Never mention "Falcon".' }, admin)
    const { id } = (await created.json()) as { id: string }
    await scene.post(`${base}/${id}/publish`, { revision: 1 }, admin)
    const wrong = { says: 'asked', given: { text: 'What is Falcon?' }, expect: 'no_match' }
    await scene.post(`${base}/${id}/cases`, wrong, admin)
    await using view = await openPage(browser)
    const { page } = view
    await scene.openAt(page, `/policies/${id}/rollout`)
    await page.getByRole('button', { name: 'Enforce', exact: true }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('button', { name: 'Enforce as v2' }).click()
    await dialog.getByRole('link', { name: 'Open the gate' }).click()
    await page.getByRole('button', { name: 'Run the gate' }).click()
    await page.getByText('1 of 1 case that must pass failed.').waitFor()
    assert.deepEqual(
      view.errors.filter((error) => !error.includes('409')),
      [],
    )
  })

  it('is set for the organization, and tightened for a policy', async () => {
    const id = await newPolicy('Tightened', 'match')
    await using view = await openPage(browser)
    const { page } = view
    await scene.openAt(page, '/policies')
    await page.getByRole('button', { name: 'Publish gate' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('group', { name: 'Approvals' }).getByRole('button', { name: 'Warn' }).click()
    assert.deepEqual(await accessibilityViolations(page), [])
    await dialog.getByRole('button', { name: 'Save' }).click()
    await dialog.waitFor({ state: 'detached' })

    await scene.openAt(page, `/policies/${id}/gate`)
    await page.getByRole('button', { name: 'Tighten' }).click()
    await dialog.getByRole('group', { name: 'Time in monitoring' }).getByRole('button', { name: 'Require' }).click()
    await dialog.getByLabel('Hours').fill('48')
    await dialog.getByRole('button', { name: 'Save' }).click()
    await dialog.waitFor({ state: 'detached' })
    const stored = await fetch(`${scene.url}${base}/${id}/publish_gate`, { headers: admin })
    const { settings, effective } = (await stored.json()) as { settings: object; effective: object }
    assert.deepEqual(settings, { shadow: { level: 'require', hours: 48 } })
    assert.partialDeepStrictEqual(effective, { approvals: { level: 'warn' }, shadow: { hours: 48 } })
    assert.deepEqual(view.errors, [])
  })
})

describe('the publish gate of the gateway configuration in the console', { skip: withoutBrowser }, () => {
  it('says what is missing, runs the gate on unsaved changes, and takes the reason of an override', async () => {
    await using browser = await launchBrowser()
    await using scene = await openConsoleScene()
    const admin = { authorization: `Bearer ${scene.adminKey}` }
    const given = { says: 'asked outright', given: { text: 'What is Project X?' }, expect: 'refuse' }
    await scene.post('/api/policy-gateway/config/cases', given, admin)
    await using view = await openPage(browser)
    const { page } = view
    await scene.openAt(page, '/gateway')
    await page.getByRole('checkbox', { name: 'Replace personal data' }).check()
    await page.getByRole('button', { name: 'Save for new requests' }).click()
    await page.getByText('has not passed the publish gate').waitFor()
    assert.equal(await page.getByRole('button', { name: 'Compare with the saved version' }).count(), 0)
    await page.getByRole('button', { name: 'Run the gate' }).click()
    await page.getByText('Cases: Failed. 1 of 1 case that must pass failed.').waitFor()
    assert.deepEqual(await accessibilityViolations(page), [])
    await page.getByLabel('Publish anyway, because').fill('Tried in another place')
    await page.getByRole('button', { name: 'Save for new requests' }).click()
    await page.getByText('No changes. This is in force.').waitFor()
    assert.deepEqual(
      view.errors.filter((error) => !error.includes('409')),
      [],
    )
  })
})
