import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { sentTo } from '../../../test/support/provider-kit.ts'
import { requestBy } from '../../../test/support/requests.ts'

describe('the URL of an upstream', () => {
  const cases: readonly [kind: 'anthropic' | 'openai-chat' | 'openai-responses', baseUrl: string, url: string][] = [
    ['anthropic', 'https://api.anthropic.com', 'https://api.anthropic.com/v1/messages'],
    ['anthropic', 'https://api.anthropic.com/v1/', 'https://api.anthropic.com/v1/messages'],
    ['anthropic', 'http://127.0.0.1:8000/proxy', 'http://127.0.0.1:8000/proxy/v1/messages'],
    ['openai-chat', 'http://127.0.0.1:11434/v1', 'http://127.0.0.1:11434/v1/chat/completions'],
    [
      'openai-chat',
      'https://x.openai.azure.com/openai/v1?api-version=1',
      'https://x.openai.azure.com/openai/v1/chat/completions?api-version=1',
    ],
    ['openai-responses', 'https://api.openai.com/v1', 'https://api.openai.com/v1/responses'],
  ]
  for (const [kind, baseUrl, url] of cases) {
    it(`of kind ${kind} at ${baseUrl} is ${url}`, async () => {
      assert.equal((await sentTo(kind, requestBy('chat'), { settings: { baseUrl } })).url, url)
    })
  }
})
