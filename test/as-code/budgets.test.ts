import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { it } from 'node:test'
import { parse } from 'yaml'
import { itemsOf, type Json } from '../support/administration.ts'
import { openAsCode } from '../support/as-code.ts'

const file = `owner: platform
projects:
  - name: Support chat
budgets:
  - name: Support
    period: month
    amount_usd: 500
    time_zone: Europe/Berlin
    match:
      projects:
        - Support chat
      models:
        - gpt-*
  - name: Users
    period: day
    per: user
    requests: 37
    action: warn
    warn_at:
      - 90
`
const budgetsOf = async (scene: Awaited<ReturnType<typeof openAsCode>>): Promise<Json[]> =>
  itemsOf(await scene.app.admin.get('/budgets'))

it('budgets in files are created, changed, exported as they were written, and deleted', async () => {
  await using scene = await openAsCode()
  scene.write(file)
  assert.match((await scene.plan()).output, /create budget Support[\s\S]*create budget Users/)
  const applied = await scene.apply()
  assert.equal(applied.status, 0, applied.errors)
  assert.match((await scene.plan()).output, /0 to create, 0 to change, 3 unchanged/)
  const support = (await budgetsOf(scene)).find(({ name }) => name === 'Support') ?? {}
  const [project] = itemsOf(await scene.app.admin.get('/projects?search=support'))
  assert.partialDeepStrictEqual(support, {
    match: { project_ids: [project?.['id']], models: ['gpt-*'] },
    managed_by: 'platform',
  })
  const exported = await scene.run('export')
  assert.deepEqual(parse(exported.output)['budgets'], parse(file)['budgets'])
  const extra = { revision: 1, extra: { amount: 20, reason: 'Launch' } }
  await scene.app.admin.send('PATCH', `/budgets/${String(support['id'])}`, { body: extra })
  scene.write(file.replace('amount_usd: 500', 'amount_usd: 600'))
  assert.match((await scene.plan()).output, /update budget Support[\s\S]*- amount_usd: 500\s+\+ amount_usd: 600/)
  assert.equal((await scene.apply()).status, 0)
  const changed = (await budgetsOf(scene)).find(({ name }) => name === 'Support')
  assert.partialDeepStrictEqual(changed, { amount_usd: 600, revision: 3, extra: { amount: 20 } })
  scene.write('owner: platform\nprojects:\n  - name: Support chat\n')
  assert.equal((await scene.apply('--prune')).status, 0)
  assert.deepEqual(await budgetsOf(scene), [])
})

it('mistakes in budgets are reported with their line before any change', async () => {
  await using scene = await openAsCode()
  scene.write(`budgets:
  - name: None
    period: day
  - name: Two
    period: day
    tokens: 5
    requests: 5
  - name: Nobody
    period: day
    amount_usd: 5
    match: { projects: [Nobody] }
`)
  const { status, errors } = await scene.plan()
  assert.notEqual(status, 0)
  assert.match(errors, /:2: amount_usd: is required/)
  assert.match(errors, /:7: requests: only one of/)
  assert.match(errors, /:11: match\.projects: there is no project Nobody/)
  assert.deepEqual(await budgetsOf(scene), [])
})

it('gatehouse budgets creates, lists, shows, changes, pauses and deletes a budget, by its id or name', async () => {
  await using scene = await openAsCode()
  const write = (name: string, value: object): string => {
    const path = join(scene.path, name)
    writeFileSync(path, JSON.stringify(value))
    return path
  }
  const body = { name: 'Team red', amount_usd: 5, period: 'day', per: 'user', match: { models: ['gpt-*'] } }
  const { id } = await scene.json('budgets', 'create', '-f', write('b.json', body))
  assert.match(
    (await scene.run('budgets', 'list')).output,
    new RegExp(`${id} +Team red +5 USD a day +user +deny +active`),
  )
  const shown = await scene.run('budgets', 'show', 'Team red')
  assert.match(shown.output, /Team red\n5 USD a day in UTC, per user, deny, active\nmodels: gpt-\*/)
  const status = await scene.run('budgets', 'status', 'Team red')
  assert.match(status.output, /^since \d{4}-.* until \d{4}-[\s\S]*MEMBER +SPENT \(USD\) +HELD +AMOUNT/)
  const changed = await scene.json('budgets', 'update', id, '-f', write('u.json', { tokens: 700, period: 'once' }))
  assert.deepEqual([changed.tokens, changed.amount_usd, changed.revision], [700, null, 2])
  assert.match((await scene.run('budgets', 'list')).output, /700 tokens once/)
  assert.equal((await scene.json('budgets', 'pause', 'Team red')).state, 'paused')
  assert.equal((await scene.json('budgets', 'resume', id)).state, 'active')
  assert.equal((await scene.run('budgets', 'show', 'Team')).status, 1)
  assert.equal((await scene.run('budgets', 'delete', 'Team red')).output, `Team red (${id}) is deleted.`)
  assert.equal((await scene.run('budgets', 'delete', id)).status, 1)
  assert.equal((await scene.run('budgets', 'forget', id)).status, 2)
})
