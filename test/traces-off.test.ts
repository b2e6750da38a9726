import assert from 'node:assert/strict'
import { registerHooks } from 'node:module'
import { describe, it } from 'node:test'

const loaded: string[] = []
registerHooks({
  load(url, context, nextLoad) {
    loaded.push(url)
    return nextLoad(url, context)
  },
})
const { startTestApp } = await import('./support/app.ts')

const hasLoadedTraceCode = (): boolean => loaded.some((url) => url.includes('/adapters/traces/'))

describe('a server without a collector', () => {
  it('does not load the code that makes and exports spans', async () => {
    {
      await using _app = await startTestApp()
      assert.equal(hasLoadedTraceCode(), false)
    }
    await using _app = await startTestApp({ config: { traces: { endpoint: 'http://127.0.0.1:1' } } })
    assert.equal(hasLoadedTraceCode(), true)
  })
})
