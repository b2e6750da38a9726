import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { accessibilityViolations, launchBrowser, openPage, withoutBrowser } from '../support/browser.ts'
import { openConsoleScene, type ConsoleScene } from '../support/console-scene.ts'

describe('cases and recorded requests of the gateway page', { skip: withoutBrowser }, () => {
  let browser: Browser
  let scene: ConsoleScene
  before(async () => {
    browser = await launchBrowser()
    scene = await openConsoleScene({ config: { audit: { content: 'full' } } })
  })
  after(async () => {
    await scene[Symbol.asyncDispose]()
    await browser.close()
  })

  const rowOf = (page: Page, says: string) => page.getByRole('row').filter({ hasText: says })
  async function openWithTerm(page: Page, term: string): Promise<void> {
    await scene.openAt(page, '/gateway')
    await page.getByLabel('Denied terms').fill(term)
  }

  it('adds cases, runs them with changes that are not saved, changes and deletes them', async () => {
    await using view = await openPage(browser)
    const { page } = view
    await openWithTerm(page, 'project heron')
    await page.getByRole('link', { name: 'Cases' }).click()
    await page.getByText('No cases yet').waitFor()
    assert.deepEqual(await accessibilityViolations(page), [])

    const dialog = page.getByRole('dialog')
    for (const [says, text] of [
      ['asked outright', 'What is Project Heron?'],
      ['the bird', 'A heron is a bird.'],
    ] as const) {
      await page.getByRole('button', { name: 'Add case' }).click()
      await dialog.getByLabel('About').fill(says)
      await dialog.getByLabel('Text').fill(text)
      await dialog.getByRole('button', { name: 'Add case' }).click()
      await rowOf(page, says).waitFor()
    }
    await page.getByRole('button', { name: 'Run with the changes' }).click()
    await page.getByText('1 passed, 1 failed, 0 not evaluated.').waitFor()
    await rowOf(page, 'asked outright').getByText('Passed').waitFor()
    await rowOf(page, 'the bird').getByText('Failed').waitFor()
    assert.deepEqual(await accessibilityViolations(page), [])

    await page.getByRole('button', { name: 'Actions for the bird' }).click()
    await page.getByRole('menuitem', { name: 'Change' }).click()
    await dialog.getByLabel('Expected').selectOption('Allow')
    assert.deepEqual(await accessibilityViolations(page), [])
    await dialog.getByRole('button', { name: 'Save' }).click()
    await rowOf(page, 'the bird').getByText('Allow').waitFor()
    await page.getByRole('button', { name: 'Run with the changes' }).click()
    await page.getByText('2 passed, 0 failed, 0 not evaluated.').waitFor()

    await page.getByRole('button', { name: 'Actions for asked outright' }).click()
    await page.getByRole('menuitem', { name: 'Delete' }).click()
    await dialog.getByRole('button', { name: 'Delete' }).click()
    await rowOf(page, 'asked outright').waitFor({ state: 'detached' })
    assert.deepEqual(view.errors, [])
  })

  it('tries changes that are not saved on recorded requests, and shows what they would deny', async () => {
    const messages = [{ role: 'user', content: 'What is Project Heron?' }]
    const body = { model: 'gatehouse-echo', max_tokens: 20, messages }
    assert.equal((await scene.post('/v1/messages', body)).status, 200)
    await using view = await openPage(browser)
    const { page } = view
    await openWithTerm(page, 'project heron')
    await page.getByRole('link', { name: 'Recorded requests' }).click()
    await page.getByRole('button', { name: 'Try on recorded requests' }).click()
    await page.getByText(/would newly deny [1-9]\d*, newly allow 0, and newly redact or rewrite 0\./).waitFor()
    const examples = page.getByRole('region', { name: 'Examples' })
    await examples.getByText('Newly denied').first().waitFor()
    const isOlder = page.getByText('with a configuration that may differ')
    assert.equal(await isOlder.count(), 0)
    await page.getByRole('button', { name: 'Discard changes' }).click()
    await isOlder.waitFor()
    assert.deepEqual(await accessibilityViolations(page), [])
    assert.deepEqual(view.errors, [])
  })
})
