import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createDisposables } from './disposables.ts'

describe('disposables', () => {
  const thing = (log: string[], name: string, failure?: Error): AsyncDisposable => ({
    async [Symbol.asyncDispose]() {
      log.push(name)
      if (failure) throw failure
    },
  })

  it('are disposed of once, in reverse order', async () => {
    const log: string[] = []
    const borrowed = createDisposables()
    for (const name of ['a', 'b', 'c']) borrowed.use(thing(log, name))
    await borrowed.dispose()
    await borrowed.dispose()
    assert.deepEqual(log, ['c', 'b', 'a'])
  })

  it('are all disposed of if one fails, and its error is thrown', async () => {
    const log: string[] = []
    const borrowed = createDisposables()
    borrowed.use(thing(log, 'a'))
    borrowed.use(thing(log, 'b', new Error('stuck')))
    borrowed.use(thing(log, 'c'))
    await assert.rejects(borrowed.dispose(), /stuck/)
    assert.deepEqual(log, ['c', 'b', 'a'])
  })
})
