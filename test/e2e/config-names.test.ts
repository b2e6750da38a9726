import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { ConfigError } from '../../src/config/config.ts'
import { startTestApp } from '../support/app.ts'

const echo = { name: 'here', kind: 'echo' }
const served = (upstream: string) => ({ name: 'model', targets: [{ upstream }] })

describe('a configuration', () => {
  for (const [name, config, expectedMessage] of [
    ['names an unknown upstream', { upstreams: [echo], models: [served('gone')] }, 'no upstream gone'],
    ['has two upstreams with one name', { upstreams: [echo, echo], models: [served('here')] }, 'there are two here'],
    ['has two models with one name', { upstreams: [echo], models: [served('here'), served('here')] }, 'two model'],
  ] as const) {
    it(`that ${name} does not start`, async () => {
      const starting = startTestApp({ config })
      await assert.rejects(starting, (error) => error instanceof ConfigError && error.message.includes(expectedMessage))
    })
  }
})
