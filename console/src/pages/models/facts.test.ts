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
  const { nobody, free, allKeys, listedKeys } = words.models
  it('is nobody without keys', () => assert.equal(mayUse(0, 0, false), nobody))
  it('names each group that is not empty', () => {
    assert.equal(mayUse(5, 1, true), `${allKeys(5)}, ${listedKeys(1)}, ${free}`)
    assert.equal(mayUse(0, 2, false), listedKeys(2))
  })
})

it('a price has its small digits, and zero is named', () => {
  assert.match(priceOf(0.000_123), /0[.,]000123/)
  assert.equal(priceOf(0), words.models.freePrice)
})
