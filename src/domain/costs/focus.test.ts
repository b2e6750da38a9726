import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { rowsOfCsv } from '../../../test/support/csv.ts'
import { dateOf, focusCsv, focusFileName, type DayCost, type FocusDay } from './focus.ts'

const row: DayCost = {
  projectId: 'proj_1',
  keyId: 'key_1',
  model: 'claude',
  tags: 'env=prod,team=red%2C blue',
  requests: 3,
  inputTokens: 100,
  cacheReadTokens: 20,
  cacheWriteTokens: 3,
  outputTokens: 4_000,
  costMicro: 1_820_401,
}
const day: FocusDay = {
  organization: { id: 'org_1', name: 'Acme, Inc.' },
  day: Date.UTC(2026, 11, 31) / 1000,
  creditUsd: 0.001,
  names: { project: new Map([['proj_1', 'Support']]), key: new Map([['key_1', '=cmd()']]) },
}

const parsed = (rows: readonly DayCost[]) => rowsOfCsv([...focusCsv(rows, day)].join(''))

describe('a file of costs in the columns of FOCUS 1.2', () => {
  it('has the organization, project, key and model of each row with its exact cost', () => {
    const [cells] = parsed([row])
    assert.deepEqual(cells, {
      BilledCost: '0.001820401',
      BillingAccountId: 'org_1',
      BillingAccountName: 'Acme, Inc.',
      BillingCurrency: 'USD',
      BillingPeriodEnd: '2027-01-01T00:00:00Z',
      BillingPeriodStart: '2026-12-01T00:00:00Z',
      ChargeCategory: 'Usage',
      ChargeClass: '',
      ChargeDescription: 'Requests to claude',
      ChargeFrequency: 'Usage-Based',
      ChargePeriodEnd: '2027-01-01T00:00:00Z',
      ChargePeriodStart: '2026-12-31T00:00:00Z',
      ConsumedQuantity: '4123',
      ConsumedUnit: 'Tokens',
      ContractedCost: '0.001820401',
      EffectiveCost: '0.001820401',
      InvoiceIssuerName: 'Gatehouse',
      ListCost: '0.001820401',
      PricingCategory: 'Standard',
      PricingQuantity: '4123',
      PricingUnit: 'Tokens',
      ProviderName: 'Gatehouse',
      PublisherName: 'Gatehouse',
      RegionId: '',
      ResourceId: 'key_1',
      ResourceName: "'=cmd()",
      ResourceType: 'API key',
      ServiceCategory: 'AI and Machine Learning',
      ServiceName: 'claude',
      ServiceSubcategory: 'Generative AI',
      SkuId: 'claude',
      SubAccountId: 'proj_1',
      SubAccountName: 'Support',
      Tags: '{"env":"prod","team":"red, blue"}',
      x_CacheReadTokens: '20',
      x_CacheWriteTokens: '3',
      x_InputTokens: '100',
      x_OutputTokens: '4000',
      x_Requests: '3',
    })
  })

  it('has the mandatory columns of the specification, with a value wherever it allows no null', () => {
    const [cells = {}] = parsed([{ ...row, projectId: '', keyId: '', model: '', tags: '' }])
    const mandatory = [
      'BilledCost',
      'BillingAccountId',
      'BillingAccountName',
      'BillingCurrency',
      'BillingPeriodEnd',
      'BillingPeriodStart',
      'ChargeCategory',
      'ChargeDescription',
      'ChargePeriodEnd',
      'ChargePeriodStart',
      'ContractedCost',
      'EffectiveCost',
      'InvoiceIssuerName',
      'ListCost',
      'PricingQuantity',
      'PricingUnit',
      'ProviderName',
      'PublisherName',
      'ServiceCategory',
      'ServiceName',
    ]
    for (const name of mandatory) assert.ok(cells[name], name)
    for (const name of ['ChargeClass', 'ResourceId', 'ResourceName', 'ResourceType', 'SubAccountId', 'Tags'])
      assert.equal(cells[name], '', name)
  })

  it('has the id of a project without a name, because the specification forbids null beside an id', () => {
    const [cells] = parsed([{ ...row, projectId: 'proj_9', keyId: 'key_9' }])
    assert.deepEqual(
      [cells?.['SubAccountName'], cells?.['ResourceId'], cells?.['ResourceName']],
      ['proj_9', 'key_9', ''],
    )
  })

  it('has only its header without costs, and all rows of many', () => {
    assert.equal([...focusCsv([], day)].join('').split('\r\n').length, 2)
    const rows = Array.from({ length: 2_500 }, (_, at) => ({ ...row, requests: at }))
    assert.deepEqual(
      parsed(rows).map((cells) => Number(cells['x_Requests'])),
      rows.map(({ requests }) => requests),
    )
  })

  it('has the organization and the day in its name', () => {
    assert.equal(dateOf(day.day), '2026-12-31')
    assert.equal(focusFileName('org_1', day.day), 'focus/v1.2/organization=org_1/day=2026-12-31.csv.gz')
  })
})
