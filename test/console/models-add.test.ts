import assert from 'node:assert/strict'
import { it } from 'node:test'
import { accessibilityViolations, launchBrowser, openPage, withoutBrowser } from '../support/browser.ts'
import { openConsoleScene } from '../support/console-scene.ts'
import { answerJson, startUpstream } from '../support/upstream.ts'

const many = { requests_per_minute: 10_000, concurrent_requests: 1_000 }
const administration = { credential: many, console: many, organization: many }
const completion = {
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hello from the new model' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 1, completion_tokens: 1 },
}
const secret = 'sk-of-the-browser-test-1234'

it(
  'an upstream and a model are added, tried in the playground, paused and deleted',
  { skip: withoutBrowser },
  async () => {
    await using browser = await launchBrowser()
    await using upstream = await startUpstream((response, request) =>
      answerJson(request.method === 'GET' ? { data: [{ id: 'large' }, { id: 'small' }] } : completion)(
        response,
        request,
      ),
    )
    await using scene = await openConsoleScene({ config: { administration } })
    await using open = await openPage(browser, { viewport: { width: 1280, height: 900 } })
    const { page } = open
    await scene.openAt(page, '/models')
    await page.getByRole('button', { name: 'Add upstream' }).click()
    const form = page.getByRole('dialog', { name: 'Add upstream' })
    await form.getByLabel('Name').fill('own')
    await form.getByLabel('URL').fill(upstream.url)
    await form.getByLabel('API key').fill(secret)
    await form.getByRole('button', { name: 'Test' }).click()
    await form.getByText('It answered in').waitFor()
    await form.getByLabel('small').check()
    await form.getByText('api_key: ${OWN_API_KEY}').waitFor()
    assert.deepEqual(await accessibilityViolations(page), [])
    await form.getByRole('button', { name: 'Add upstream and 1 model' }).click()
    await form.waitFor({ state: 'detached' })
    await page.getByRole('region', { name: 'Catalogue' }).getByRole('link', { name: 'small' }).waitFor()

    await page.getByRole('button', { name: 'Add model' }).click()
    const model = page.getByRole('dialog', { name: 'Add model' })
    await model.getByLabel('Name').fill('support')
    await model.getByLabel('Upstream of target 1').selectOption('own')
    await model.getByLabel('Model of target 1').fill('large')
    await model.getByLabel('Input, USD per million tokens').fill('0.4')
    await model.getByText('price: { input: 0.4 }').waitFor()
    assert.deepEqual(await accessibilityViolations(page), [])
    await model.getByRole('button', { name: 'Add model' }).click()
    await model.waitFor({ state: 'detached' })
    const row = page.getByRole('region', { name: 'Catalogue' }).getByRole('row', { name: /^support/ })
    await row.getByText('own/large').waitFor()
    await row.getByText('$0.40').waitFor()
    assert.doesNotMatch(await page.content(), new RegExp(secret))
    const overflow =
      'Math.max(...[...document.querySelectorAll("[role=region]")].map((each) => each.scrollWidth - each.clientWidth))'
    assert.equal(await page.evaluate(overflow), 0, 'no table is cut at 1280 pixels')

    await scene.openAt(page, '/playground?model=support')
    await page.getByLabel('Message 1', { exact: true }).fill('Hi')
    await page.getByRole('button', { name: 'Send to the model', disabled: false }).click()
    await page.getByText('Hello from the new model').first().waitFor()

    await scene.openAt(page, '/models')
    await page.getByRole('button', { name: 'Actions for support' }).click()
    await page.getByRole('menuitem', { name: 'Pause' }).click()
    await page.getByRole('dialog', { name: 'Pause support?' }).getByRole('button', { name: 'Pause' }).click()
    await row.getByText('Paused').waitFor()
    await page.getByRole('button', { name: 'Actions for support' }).click()
    await page.getByRole('menuitem', { name: 'Delete' }).click()
    const confirm = page.getByRole('dialog', { name: 'Delete support?' })
    await confirm.getByRole('textbox').fill('support')
    await confirm.getByRole('button', { name: 'Delete' }).click()
    await row.waitFor({ state: 'detached' })
    assert.deepEqual(open.errors, [])
  },
)
