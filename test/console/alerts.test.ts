import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { accessibilityViolations, launchBrowser, openPage, withoutBrowser } from '../support/browser.ts'
import { openConsoleScene, type ConsoleScene } from '../support/console-scene.ts'
import { startReceiver, type Received } from '../support/receiver.ts'

const many = { requests_per_minute: 10_000, concurrent_requests: 1_000 }

describe('alerts in the console', { skip: withoutBrowser }, () => {
  let browser: Browser
  let scene: ConsoleScene
  before(async () => {
    browser = await launchBrowser()
    scene = await openConsoleScene({
      config: {
        exports: { allow_addresses: ['127.0.0.0/8'] },
        administration: { credential: many, console: many, organization: many },
      },
    })
  })
  after(async () => {
    await scene[Symbol.asyncDispose]()
    await browser.close()
  })

  const openAlerts = async (page: Page, query = ''): Promise<void> => {
    await scene.openAt(page, `/alerts${query}`)
    await page.getByRole('navigation', { name: 'Sections' }).waitFor()
  }

  it('a channel is created, tested and used by a new rule', async (t) => {
    const receiver = await startReceiver(t, () => ({ status: 204 }))
    await using open = await openPage(browser)
    const { page } = open
    await scene.signIn(page)
    await page.getByRole('link', { name: 'Alerts' }).click()
    await page.getByText('No rules yet').waitFor()
    assert.deepEqual(await accessibilityViolations(page), [])

    await page.getByRole('link', { name: 'Channels' }).click()
    await page.getByText('No channels yet').waitFor()
    await page.getByRole('button', { name: 'New channel' }).click()
    const channel = page.getByRole('dialog', { name: 'New channel' })
    await channel.getByLabel('Name').fill('On call')
    await channel.getByLabel('URL').fill(`${receiver.origin}/hook`)
    await channel.getByLabel('Signing key').fill('a-secret-of-the-webhook-0123')
    assert.deepEqual(await accessibilityViolations(page), [])
    await channel.getByRole('button', { name: 'New channel' }).click()
    const row = page.getByRole('row', { name: /On call/ })
    await row.getByText('Webhook').waitFor()

    await row.getByRole('button', { name: 'Actions for On call' }).click()
    await page.getByRole('menuitem', { name: 'Send test' }).click()
    const test = page.getByRole('dialog', { name: 'Send test: On call' })
    await test.getByRole('button', { name: 'Send test' }).click()
    await test.getByText('Sent. The receiver answered 204.').waitFor()
    const [request]: readonly Received[] = receiver.requests
    assert.match(request?.text ?? '', /alert\.test/)
    await test.getByRole('button', { name: 'Cancel' }).click()

    await page.getByRole('link', { name: 'Rules' }).click()
    await page.getByRole('button', { name: 'New rule' }).click()
    const rule = page.getByRole('dialog', { name: 'New rule' })
    await rule.getByLabel('Kind').selectOption('denials')
    await rule.getByLabel('Threshold').fill('30')
    await rule.getByLabel('Period').selectOption('1h')
    assert.ok(await rule.getByLabel(/On call/).isChecked())
    assert.deepEqual(await accessibilityViolations(page), [])
    await rule.getByRole('button', { name: 'New rule' }).click()
    const made = page.getByRole('row', { name: /Denials/ })
    await made.getByText('Over 30 % denied in 1 hour').waitFor()
    await made.getByText('OK').waitFor()
    assert.deepEqual(open.errors, [])
  })

  it('a rule is edited, paused and deleted, and the errors of the server stand at their fields', async () => {
    await using open = await openPage(browser)
    const { page } = open
    await scene.signIn(page)
    const headers = { authorization: `Bearer ${scene.adminKey}` }
    await scene.post('/v1/organization/alert_rules', { kind: 'errors', name: 'Errors' }, headers)
    await openAlerts(page)
    await page.getByRole('link', { name: 'Errors' }).click()
    const form = page.getByRole('dialog', { name: 'Edit: Errors' })
    await form.getByLabel('Threshold').fill('200')
    await form.getByRole('button', { name: 'Save changes' }).click()
    await form.getByText('threshold: must be below 100 percent.').waitFor()
    await form.getByLabel('Threshold').fill('10')
    await form.getByRole('button', { name: 'Save changes' }).click()
    const row = page.getByRole('row', { name: /Errors/ })
    await row.getByText('Over 10 % failed in 15 minutes').waitFor()
    for (const [verb, dialog] of [
      ['Pause', 'Pause: Errors'],
      ['Delete', 'Delete: Errors'],
    ] as const) {
      await row.getByRole('button', { name: 'Actions for Errors' }).click()
      await page.getByRole('menuitem', { name: verb }).click()
      await page.getByRole('dialog', { name: dialog }).getByRole('button', { name: verb }).click()
      if (verb === 'Pause') await row.getByText('Paused').waitFor()
    }
    await row.waitFor({ state: 'detached' })
    await openAlerts(page, '?tab=history')
    await page.getByText('No alerts yet').waitFor()
    // Chromium logs the answer to the wrong threshold.
    assert.deepEqual(
      open.errors.filter((error) => !/status of 422/.test(error)),
      [],
    )
  })

  it('an email channel says what the operator has to set', async () => {
    await using open = await openPage(browser, { colorScheme: 'dark' })
    const { page } = open
    await scene.signIn(page)
    await openAlerts(page, '?tab=channels&dialog=create')
    const form = page.getByRole('dialog', { name: 'New channel' })
    await form.getByLabel('Kind').selectOption('email')
    await form.getByLabel('Name').fill('Mail')
    await form.getByLabel('Addresses').fill('oncall@example.com')
    await form.getByRole('button', { name: 'New channel' }).click()
    await form.getByText(/mail\.smtp_url/).waitFor()
    assert.deepEqual(await accessibilityViolations(page), [])
  })
})
