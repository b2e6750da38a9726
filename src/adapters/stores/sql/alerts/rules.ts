import {
  ruleKinds,
  type AlertRule,
  type AlertRuleStore,
  type FiringAlert,
  type RuleFilterName,
  type RuleKind,
  type WatchedRule,
} from '../../../../domain/alerts/rule.ts'
import type { Database, Transaction } from '../database.ts'
import { countRows, selectPage } from '../page.ts'

type RuleRow = {
  id: string
  organization_id: string
  kind: string
  name: string
  settings: string
  channel_ids: string
  paused: number
  version: number
  created_at: number
  updated_at: number
}

const columns = 'id, organization_id, kind, name, settings, channel_ids, paused, version, created_at, updated_at'

/** The tables of the objects that a filter can name, without deleted ones. */
const tableOfFilter: Partial<Record<RuleFilterName, string>> = {
  project_id: 'project',
  api_key_id: 'api_key',
  policy_id: 'policy',
  budget_id: 'budget',
  export_id: 'export_sink',
}

/** Alert rules in SQL, in the given transaction. */
export function alertRuleStore(tx: Transaction): AlertRuleStore {
  return {
    async insert(rule) {
      await tx.run(`insert into alert_rule (${columns}) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`, [
        rule.id,
        rule.organizationId,
        rule.kind,
        ...changeableValues(rule),
        rule.version,
        rule.createdAtMs,
        rule.updatedAtMs,
      ])
    },
    async replace(rule) {
      const sql = `update alert_rule set name = $3, settings = $4, channel_ids = $5, paused = $6, version = $7, updated_at = $8
        where organization_id = $1 and id = $2 and version = $7 - 1`
      const values = [rule.organizationId, rule.id, ...changeableValues(rule), rule.version, rule.updatedAtMs]
      return (await tx.run(sql, values)) === 1
    },
    async remove({ organizationId, id }, atMs) {
      const ofRule = 'organization_id = $1 and rule_id = $2'
      await tx.run(`update alert set ended_at = $3 where ${ofRule} and ended_at is null`, [organizationId, id, atMs])
      await tx.run(`update alert set rule_id = null where ${ofRule}`, [organizationId, id])
      await tx.run('delete from alert_state where rule_id = $1', [id])
      const sql = 'delete from alert_rule where organization_id = $1 and id = $2'
      return (await tx.run(sql, [organizationId, id])) === 1
    },
    async find(organizationId, id) {
      const sql = `select ${columns} from alert_rule where organization_id = $1 and id = $2`
      const rows = await tx.query<RuleRow>(sql, [organizationId, id])
      return (await withFiring(tx, rows.map(ruleOf)))[0]
    },
    async list(organizationId, page) {
      const listing = { table: 'alert_rule', columns, where: { organization_id: organizationId }, map: ruleOf }
      const { items, hasMore } = await selectPage<RuleRow, AlertRule>(tx, listing, page)
      return { items: await withFiring(tx, items), hasMore }
    },
    count: (organizationId) => countRows(tx, { table: 'alert_rule', where: { organization_id: organizationId } }),
    async hasSubject(organizationId, { name, id }) {
      const table = tableOfFilter[name]
      if (table === undefined) return true
      const sql = `select id from ${table} where organization_id = $1 and id = $2`
      return (await tx.query(sql, [organizationId, id])).length === 1
    },
    async namesOfChannel(organizationId, channelId) {
      const sql = 'select name, channel_ids from alert_rule where organization_id = $1 order by name'
      const rows = await tx.query<{ name: string; channel_ids: string }>(sql, [organizationId])
      return rows.filter(({ channel_ids: ids }) => idsIn(ids).includes(channelId)).map(({ name }) => name)
    },
  }
}

/** The rules of all organizations that are not paused, those of an organization together. */
export async function readActiveRules(database: Database): Promise<readonly AlertRule[]> {
  const sql = `select ${columns} from alert_rule where paused = 0 order by organization_id, id`
  return (await database.read<RuleRow>(sql)).map(ruleOf)
}

type FiringRow = { rule_id: string; subject: string; id: string; title: string; started_at: number }

/** The alerts of each rule that are not over, in order of their begin. */
async function withFiring(tx: Transaction, rules: readonly AlertRule[]): Promise<WatchedRule[]> {
  if (rules.length === 0) return []
  const list = rules.map((_, at) => `$${at + 1}`).join(', ')
  const rows = await tx.query<FiringRow>(
    `select s.rule_id, s.subject, a.id, a.title, a.started_at from alert_state s join alert a on a.id = s.alert_id
     where s.state = 'firing' and s.rule_id in (${list}) order by a.started_at, a.id`,
    rules.map(({ id }) => id),
  )
  const byRule = Map.groupBy(rows, ({ rule_id: ruleId }) => ruleId)
  return rules.map((rule) => ({ ...rule, firing: (byRule.get(rule.id) ?? []).map(firingOf) }))
}

const firingOf = (row: FiringRow): FiringAlert => ({
  alertId: row.id,
  subject: row.subject,
  title: row.title,
  sinceMs: row.started_at,
})

type Settings = Pick<AlertRule, 'threshold' | 'unit' | 'window' | 'minRequests' | 'forMinutes' | 'filter'>

function changeableValues(rule: AlertRule): [string, string, string, number] {
  const { threshold, unit, window, minRequests, forMinutes, filter } = rule
  const settings: Settings = { threshold, unit, window, minRequests, forMinutes, filter }
  return [rule.name, JSON.stringify(settings), JSON.stringify(rule.channelIds), Number(rule.isPaused)]
}

const ruleOf = (row: RuleRow): AlertRule => ({
  id: row.id,
  organizationId: row.organization_id,
  kind: ruleKindOf(row.kind),
  name: row.name,
  ...(JSON.parse(row.settings) as Settings),
  channelIds: idsIn(row.channel_ids),
  isPaused: row.paused === 1,
  version: row.version,
  createdAtMs: row.created_at,
  updatedAtMs: row.updated_at,
})

function ruleKindOf(text: string): RuleKind {
  const kind = ruleKinds.find((each) => each === text)
  if (kind === undefined) throw new Error(`${text} is not a kind of alert rule`)
  return kind
}

const idsIn = (json: string): readonly string[] => JSON.parse(json) as string[]
