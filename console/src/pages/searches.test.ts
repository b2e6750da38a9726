import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { readAuditSearch } from './audit/search.ts'
import { readCostsSearch } from './costs/search.ts'
import { readGatewaySearch } from './gateway/search.ts'
import { readLimitsSearch } from './limits/search.ts'
import { readMembersSearch } from './members/search.ts'
import { readModelsSearch } from './models/search.ts'
import { readPlaygroundSearch } from './playground/search.ts'
import { readHistorySearch, readPoliciesSearch, readReplaySearch } from './policies/search.ts'
import { readProjectsSearch } from './projects/search.ts'
import { filtersOf, readRequestSearch } from './requests/search.ts'
import { readSettingsSearch } from './settings/search.ts'
import { readSinksSearch } from './sinks/search.ts'

type Reader = (search: Record<string, unknown>) => object

/** Each reader of an address with an address that it keeps whole. */
const readers: readonly (readonly [page: string, read: Reader, search: Record<string, unknown>])[] = [
  ['audit', readAuditSearch, { view: 'verify', event_kind: 'policy.created', actor_id: 'adk_1' }],
  ['sinks', readSinksSearch, { new: 'webhook', dialog: 'edit' }],
  ['costs', readCostsSearch, { view: 'budgets', by: 'tag:team', budget: 'bud_1', dialog: 'edit' }],
  ['gateway', readGatewaySearch, { view: 'json' }],
  [
    'limits',
    readLimitsSearch,
    { view: 'ledger', by: 'user', kind: 'grant', project_id: 'p', api_key_id: 'k', request_id: 'r' },
  ],
  [
    'members',
    readMembersSearch,
    { tab: 'roles', search: 'ada', role: 'owner', status: 'active', dialog: 'edit', id: 'mem_1' },
  ],
  ['models', readModelsSearch, { model: 'gpt-5', probe: 'local' }],
  [
    'playground',
    readPlaygroundSearch,
    {
      dialect: 'chat',
      tab: 'code',
      stream: false,
      max_tokens: 5,
      model: 'm',
      project: 'p',
      user: 'u',
      target: 't',
      compare: 'model:n',
      against: 'draft:d',
      request: 'r',
      request_b: 's',
      copy: 'c',
    },
  ],
  ['policies', readPoliciesSearch, { search: 'heron', state: 'paused', scope: 'projects', create: 'blank' }],
  ['the replay of a policy', readReplaySearch, { backtest: 'bt_1', threshold: 700 }],
  ['the history of a policy', readHistorySearch, { before: 1, after: 2 }],
  [
    'projects',
    readProjectsSearch,
    { tab: 'projects', search: 'web', status: 'archived', project_id: 'p', dialog: 'edit', id: 'i' },
  ],
  [
    'requests',
    readRequestSearch,
    { decision: 'refuse', not_model: ['a', 'b'], q: 'x', min_ms: 5, columns: 'time,model' },
  ],
  ['settings', readSettingsSearch, { search: 'port', defaults: true }],
]

const given = (search: object): object =>
  Object.fromEntries(Object.entries(search).filter(([, value]) => value !== undefined))

for (const [page, read, search] of readers)
  describe(`the address of ${page}`, () => {
    it('is kept where it is valid', () => assert.deepEqual(given(read(search)), search))
    it('may have other parameters', () => assert.deepEqual(given(read({ ...search, utm_source: 'x' })), search))
    it('may hold anything', () => {
      for (const wrong of [null, true, [], {}, Number.NaN])
        assert.deepEqual(
          Object.values(given(read(Object.fromEntries(Object.keys(search).map((name) => [name, wrong]))))).filter(
            (value) => typeof value === 'object',
          ),
          [],
        )
    })
  })

describe('a parameter', () => {
  it('that is not one of the choices is dropped', () => {
    assert.deepEqual(given(readLimitsSearch({ view: 'nope', by: 'colour' })), {})
    assert.deepEqual(given(readPlaygroundSearch({ dialect: 'nope', max_tokens: 0 })), {})
    assert.deepEqual(given(readPlaygroundSearch({ max_tokens: 1.5, stream: true })), {})
  })
  it('of digits, which the router reads as a number, is a text', () => {
    assert.equal(readSettingsSearch({ search: 8080 }).search, '8080')
    assert.equal(readPoliciesSearch({ search: 2026 }).search, '2026')
    assert.equal(readPlaygroundSearch({ user: 7 }).user, '7')
  })
  it('that names the first tab is left out, so that the page has one address', () => {
    assert.equal(readMembersSearch({ tab: 'people' }).tab, undefined)
    assert.equal(readProjectsSearch({ tab: 'keys' }).tab, undefined)
  })
  it('for the status belongs to the list that is open', () => {
    assert.equal(readProjectsSearch({ status: 'archived' }).status, undefined)
    assert.equal(readProjectsSearch({ tab: 'projects', status: 'archived' }).status, 'archived')
    assert.equal(readProjectsSearch({ tab: 'projects', status: 'revoked' }).status, undefined)
  })
  it('for the columns of requests is not a filter', () =>
    assert.deepEqual(filtersOf(readRequestSearch({ model: 'm', columns: 'time' })), { model: ['m'] }))
})
