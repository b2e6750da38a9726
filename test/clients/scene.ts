import { startTestApp, type TestApp } from '../support/app.ts'

/** The kinds of upstream. Each is served under a model of the same name. */
export const upstreamKinds = ['echo', 'anthropic', 'openai-chat', 'openai-responses'] as const

/**
 * Two apps: the far one serves the echo provider in every dialect, and the near one uses it as an upstream of each kind. A
 * request to the near one crosses two real connections, so every pair of dialects is tested.
 */
export async function startPairs(): Promise<AsyncDisposable & { readonly near: TestApp; readonly far: TestApp }> {
  const far = await startTestApp()
  const remote = { api_key: far.apiKey, idle_timeout_ms: 5_000, first_byte_timeout_ms: 5_000 }
  const near = await startTestApp({
    config: {
      upstreams: [
        { name: 'echo', kind: 'echo' },
        { name: 'anthropic', kind: 'anthropic', base_url: far.url, ...remote },
        { name: 'openai-chat', kind: 'openai-chat', base_url: `${far.url}/v1`, takes_effort: true, ...remote },
        { name: 'openai-responses', kind: 'openai-responses', base_url: `${far.url}/v1`, ...remote },
      ],
      models: upstreamKinds.map((kind) => ({
        name: kind,
        targets: [{ upstream: kind, model: 'gatehouse-echo' }],
        price: { input: 1, output: 2 },
      })),
    },
  })
  return {
    near,
    far,
    async [Symbol.asyncDispose]() {
      await near[Symbol.asyncDispose]()
      await far[Symbol.asyncDispose]()
    },
  }
}
