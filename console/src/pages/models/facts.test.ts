import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { words } from '../../words/en.ts'
import { mayUseOf, priceOf } from './facts.ts'
import type { CatalogueModel } from './queries.ts'

describe('who may use a model', () => {
  const mayUse = (all: number, listed: number, isFree: boolean): string =>
    mayUseOf({
      may_use: { keys_with_all_models: all, keys_that_list_it: listed, free_requests: isFree },
    } as CatalogueModel)
  const { nobody, free } = words.models
  it('is nobody without keys', () => assert.equal(mayUse(0, 0, false), nobody))
  it('is the number of keys, and requests without a key', () => {
    assert.equal(mayUse(5, 1, true), `6 keys, ${free}`)
    assert.equal(mayUse(0, 1, false), '1 key')
  })
})

it('a price has its small digits, and zero is named', () => {
  assert.match(priceOf(0.000_123), /0[.,]000123/)
  assert.equal(priceOf(0), words.models.freePrice)
})
