import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { accessibilityViolations, launchBrowser, openPage, withoutBrowser } from '../support/browser.ts'
import { openConsoleScene, type ConsoleScene } from '../support/console-scene.ts'

describe('reviews in the console', { skip: withoutBrowser }, () => {
  let browser: Browser
  let scene: ConsoleScene
  let admin: { authorization: string }
  before(async () => {
    browser = await launchBrowser()
    scene = await openConsoleScene({ config: { audit: { content: 'full' } } })
    admin = { authorization: `Bearer ${scene.adminKey}` }
  })
  after(async () => {
    await scene[Symbol.asyncDispose]()
    await browser.close()
  })

  const read = async (path: string) =>
    (await (await scene.get(`/v1/organization${path}`, admin)).json()) as Record<string, unknown>

  /** A denied request that its key appeals. */
  async function appealed(text: string, note: string): Promise<string> {
    const { event_id: eventId } = await read(`/requests/${await scene.ask(text)}`)
    const opened = await scene.post(`/v1/decisions/${String(eventId)}/appeal`, { note })
    assert.equal(opened.status, 201)
    return ((await opened.json()) as { id: string }).id
  }

  const dark = (page: Page) => page.emulateMedia({ colorScheme: 'dark' })

  it('say how appeals come, while there is none', async () => {
    await using view = await openPage(browser)
    const { page } = view
    await scene.openAt(page, '/overview')
    await page.getByRole('link', { name: 'Reviews', exact: true }).click()
    await page.getByText('No appeal is open').waitFor()
    await page.getByRole('link', { name: 'Denied requests' }).waitFor()
    assert.deepEqual(await accessibilityViolations(page), [])
    assert.deepEqual(view.errors, [])
  })

  it('ask before they show the decision, and make a case of the answer, by the keyboard', async () => {
    const id = await appealed('A falcon is a bird of prey.', 'It is about a bird.')
    await using view = await openPage(browser)
    const { page } = view
    await scene.openAt(page, '/reviews')
    await page.getByText('Should the rule match this text?').waitFor()
    await page.getByText('A falcon is a bird of prey.').waitFor()
    assert.equal(await page.getByText('It is about a bird.').count(), 0)
    assert.deepEqual(await accessibilityViolations(page), [])
    await page.keyboard.press('2')
    await page.getByText('It is about a bird.').waitFor()
    await page.locator('[aria-label="Close it"]:focus').waitFor() // so that Tab goes on from there
    await page.getByText('score 10,000 of 5,000').waitFor()
    assert.deepEqual(await accessibilityViolations(page), [])
    await dark(page)
    assert.deepEqual(await accessibilityViolations(page), [])
    assert.equal(await page.getByRole('checkbox', { name: 'Make it a case of the policy' }).isChecked(), true)
    await page.getByLabel('What the case is about').fill('the bird')
    await page.getByRole('checkbox', { name: 'Change the draft of the policy' }).check()
    await page.getByText('No threshold decides this text otherwise').waitFor() // its score is the highest
    await page.getByLabel('New rule of the draft').fill('cel:text.contains("Project falcon")')
    assert.deepEqual(await accessibilityViolations(page), [])
    await page.getByLabel('Answer to who appealed').fill('Birds are fine.')
    await page.getByRole('button', { name: 'Overturn' }).click()
    await page.getByRole('link', { name: 'Open the changed draft' }).waitFor()
    assert.deepEqual(await accessibilityViolations(page), [])
    await page.keyboard.press('Enter') // the button that goes on has the focus
    await page.getByText('No appeal is open').waitFor()
    const appeal = await read(`/appeals/${id}`)
    const reads = `/audit_logs?kind=audit.content.read&resource_id=${String(appeal['request_id'])}`
    assert.equal(((await read(reads))['data'] as unknown[]).length, 1) // the answers of the server have no text to read again
    assert.deepEqual([appeal['state'], appeal['reason']], ['overturned', 'Birds are fine.'])
    const { data } = (await read(`/policies/${scene.policyId}/cases`)) as {
      data: { id: string; says: string; origin: string }[]
    }
    assert.deepEqual(
      data.map(({ id: caseId, says, origin }) => [caseId, says, origin]),
      [[appeal['case_id'], 'the bird', 'appeal']],
    )
    const { draft } = (await read(`/policies/${scene.policyId}`)) as { draft: { rule: string } }
    assert.equal(draft.rule, 'cel:text.contains("Project falcon")')
    await scene.openAt(page, `/reviews?appeal=${id}`)
    await page.getByText('Birds are fine.').waitFor()
    await page.getByRole('link', { name: 'Open the cases of the policy' }).waitFor()
    assert.deepEqual(view.errors, [])
  })

  it('make an exception of a wrong denial, for what the request names, and keep what was typed after an error', async () => {
    const text = 'The falcon lives on cliffs.'
    const id = await appealed(text, 'A bird.')
    await using view = await openPage(browser)
    const { page } = view
    await scene.openAt(page, '/reviews')
    await page.getByText('Should the rule match this text?').waitFor()
    await page.keyboard.press('2')
    await page.getByRole('checkbox', { name: 'Let further requests through until a date' }).check()
    const covers = page.getByRole('group', { name: 'For', exact: true })
    assert.deepEqual(await covers.getByRole('button').allTextContents(), ['Key', 'Project', 'This text']) // no user is named
    await page.getByText('Requests of the key', { exact: false }).waitFor()
    await covers.getByRole('button', { name: 'This text' }).click()
    await page.getByLabel('Reason of the exception').fill('Birds')
    await page.getByLabel('Days').fill('31')
    const overturn = page.getByRole('button', { name: 'Overturn' })
    assert.equal(await overturn.isDisabled(), true)
    await page.getByLabel('Days').fill('30')
    assert.deepEqual(await accessibilityViolations(page), [])
    await page.route('**/resolve', (route) => route.abort(), { times: 1 })
    await overturn.click()
    await page.getByRole('alert').waitFor()
    assert.equal(await page.getByLabel('Reason of the exception').inputValue(), 'Birds')
    await overturn.click()
    await page.getByRole('link', { name: 'Open the exceptions of the policy' }).click()
    await page.getByRole('cell', { name: 'Birds' }).waitFor()
    assert.equal((await read(`/appeals/${id}`))['state'], 'overturned')
    assert.equal((await read(`/requests/${await scene.ask(text)}`))['is_enforced'], false)
    assert.deepEqual(
      view.errors.filter((error) => !error.includes('net::ERR_FAILED')),
      [],
    )
  })

  it('record an answer after the decision was shown as not blind, and fit a small screen', async () => {
    const id = await appealed('Another falcon.', 'Wrong.')
    await using view = await openPage(browser)
    const { page } = view
    await page.setViewportSize({ width: 390, height: 844 })
    await scene.openAt(page, `/reviews?appeal=${id}`)
    await page.getByRole('button', { name: 'Show the decision first' }).click()
    await page.getByText('recorded as not blind').waitFor()
    await page.getByRole('button', { name: 'Should match', exact: false }).first().click()
    await page.getByText('not blind', { exact: true }).waitFor()
    const width = await page.evaluate<number>('document.documentElement.scrollWidth')
    assert.ok(width <= 390, String(width))
    await page.getByRole('button', { name: 'Uphold' }).click()
    await page.getByText('Upheld').first().waitFor()
    const { labels } = (await read(`/appeals/${id}`)) as { labels: { blind: boolean }[] }
    assert.deepEqual(
      labels.map(({ blind }) => blind),
      [false],
    )
    assert.deepEqual(view.errors, [])
  })

  it('begin on the page of a request, and leave the own appeal to another person', async () => {
    const requestId = await scene.ask('Hello')
    await using view = await openPage(browser)
    const { page } = view
    await scene.openAt(page, `/requests/${requestId}`)
    await page.getByRole('button', { name: 'Should have been denied' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Why the decision was wrong').fill('It says hello.')
    await dialog.getByLabel('Policy that should have matched').selectOption({ label: 'No code names' })
    assert.deepEqual(await accessibilityViolations(page), [])
    await dialog.getByRole('button', { name: 'Should have been denied' }).click()
    await page.getByRole('link', { name: 'Appealed. Open the review' }).click()
    await page.getByText('You opened this appeal').waitFor()
    assert.deepEqual(view.errors, [])
  })
})
