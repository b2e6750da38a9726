import assert from 'node:assert/strict'
import type { Page } from 'playwright-core'
import { startTestApp, type TestApp, type TestAppOptions } from './app.ts'
import { newLink } from './console.ts'

/** A server with a policy that denies `falcon`, and functions that send requests to it. */
export type ConsoleScene = TestApp & {
  readonly policyId: string
  /** Sends a request, and returns its id. */
  ask(text: string, model?: string): Promise<string>
  /** Signs the page in with a one-time link, which opens the console. */
  signIn(page: Page): Promise<void>
  /** Opens a page of the console, such as `/policies`, in a session that the browser has already: one page load less. */
  openAt(page: Page, path: string): Promise<void>
}

export async function openConsoleScene(options: TestAppOptions = {}): Promise<ConsoleScene> {
  const app = await startTestApp(options)
  const admin = { authorization: `Bearer ${app.adminKey}` }
  const rule = 'cel:text.contains("falcon") ? 1.0 : 0.0'
  const created = await app.post('/v1/organization/policies', { name: 'No code names', rule, mode: 'enforcing' }, admin)
  const { id: policyId } = (await created.json()) as { id: string }
  await app.post(`/v1/organization/policies/${policyId}/publish`, { revision: 1 }, admin)
  return {
    ...app,
    policyId,
    async ask(text, model = 'gatehouse-echo') {
      const body = { model, max_tokens: 100, messages: [{ role: 'user', content: text }] }
      const response = await app.post('/v1/messages', body)
      await response.text()
      return response.headers.get('x-request-id') ?? ''
    },
    async signIn(page) {
      await page.goto(`${app.addresses.administration}/console/#start=${await newLink(app)}`)
      await page.locator('#page').waitFor() // the sidebar is hidden on narrow screens
    },
    async openAt(page, path) {
      const url = `${app.addresses.administration}/console`
      const headers = { 'sec-fetch-site': 'same-origin', 'x-gatehouse-console': '1' }
      const data = { link: await newLink(app) }
      const response = await page.context().request.post(`${url}/api/sign_in`, { data, headers })
      assert.ok(response.ok(), await response.text())
      await page.goto(url + path)
    },
    [Symbol.asyncDispose]: () => app[Symbol.asyncDispose](),
  }
}
