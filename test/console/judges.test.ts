import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Browser } from 'playwright-core'
import { accessibilityViolations, launchBrowser, openPage, withoutBrowser } from '../support/browser.ts'
import { openConsoleScene, type ConsoleScene } from '../support/console-scene.ts'

const base = '/v1/organization'

describe('judges in the console', { skip: withoutBrowser }, () => {
  let browser: Browser
  let scene: ConsoleScene
  let admin: { authorization: string }
  before(async () => {
    browser = await launchBrowser()
    scene = await openConsoleScene()
    admin = { authorization: `Bearer ${scene.adminKey}` }
    const created = await scene.post(`${base}/policies`, { name: 'Polite', rule: 'Be polite.' }, admin)
    const { id } = (await created.json()) as { id: string }
    const label = { says: 'rude', given: { text: 'You fool' }, expect: 'match' }
    await scene.post(`${base}/policies/${id}/cases`, label, admin)
  })
  after(async () => {
    await scene[Symbol.asyncDispose]()
    await browser.close()
  })

  it('are added, calibrated, shadowed, and activated with a reason for what is open', async () => {
    await using view = await openPage(browser)
    const { page } = view
    await scene.openAt(page, '/judges')
    await page.getByText('No judge yet').waitFor()
    assert.deepEqual(await accessibilityViolations(page), [])
    await page.getByRole('button', { name: 'New judge' }).click()
    await page.getByLabel('Name').fill('Strict')
    assert.deepEqual(await accessibilityViolations(page), [])
    await page.getByRole('button', { name: 'Create judge' }).click()
    await page.getByText('This version was not calibrated. Calibrate it first.').waitFor()
    await page.getByRole('button', { name: 'Calibrate', exact: true }).click()
    await page.getByText('50 are needed', { exact: false }).waitFor()
    await page.getByText('No answer could be used', { exact: false }).waitFor() // the echo model gives no verdicts
    assert.equal(await page.getByText('It contradicts itself', { exact: false }).count(), 0)
    assert.deepEqual(await accessibilityViolations(page), [])

    await page.getByRole('button', { name: 'Shadow', exact: true }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Share of texts, in %').fill('10')
    await dialog.getByRole('button', { name: 'Shadow', exact: true }).click()
    await dialog.waitFor({ state: 'detached' })

    await page.getByRole('button', { name: 'Activate', exact: true }).click()
    const override = dialog.getByRole('button', { name: 'Override and activate' })
    assert.equal(await override.isDisabled(), true)
    await dialog.getByLabel('Activate anyway, because').fill('There are no more texts yet')
    assert.deepEqual(await accessibilityViolations(page), [])
    await override.click()
    await dialog.waitFor({ state: 'detached' })
    await page.getByText('Active', { exact: true }).first().waitFor()
    await page.getByRole('button', { name: 'Retire' }).click()
    await dialog.getByRole('button', { name: 'Retire' }).click()
    await page.getByText('Retired', { exact: true }).first().waitFor()
    assert.deepEqual(view.errors, [])
  })
})
