import assert from 'node:assert/strict'
import { join } from 'node:path'
import { it } from 'node:test'
import { startTestApp } from '../../support/app.ts'
import { executeInFile } from '../../support/sqlite-file.ts'

/** Each page of the ledger takes long. */
const slowLedger = `
  alter table credit_entry rename to credit_entry_stored;
  create view credit_entry as select e.* from credit_entry_stored e, (
    with recursive c (n) as (select 1 union all select n + 1 from c where n < 300000) select max(n) from c)`

it('reports of an organization wait for one another, and too many of them get 429 with Retry-After', async () => {
  const limit = { concurrent_requests: 1_000, requests_per_minute: 1_000 }
  const config = { administration: { credential: limit, organization: limit }, credits: { starting: 5 } }
  await using app = await startTestApp({ config })
  const authorization = `Bearer ${app.adminKey}`
  await executeInFile(join(app.dataDir, 'gatehouse.db'), slowLedger)
  const sent = Array.from({ length: 60 }, () => app.get('/v1/organization/credits/ledger', { authorization }))
  const answers = await Promise.all(sent)
  const rejected = answers.filter(({ status }) => status === 429)
  assert.ok(rejected.length > 0)
  assert.ok(answers.length - rejected.length >= 21) // one runs and twenty wait
  for (const answer of rejected) {
    assert.ok(Number(answer.headers.get('retry-after')) >= 1)
    assert.match(await answer.text(), /"code":"too_many_reports"/)
  }
  assert.ok(answers.every(({ status }) => status === 200 || status === 429))
  const next = await app.get('/v1/organization/credits/ledger', { authorization })
  assert.match(await next.text(), /"kind":"grant"/)
})
