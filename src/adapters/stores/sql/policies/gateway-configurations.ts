import { withDefaults } from '../../../../domain/gateway-config/complete.ts'
import type { GatewayConfiguration } from '../../../../domain/gateway-config/configuration.ts'
import type { ConfigurationVersion, GatewayStore, SaveAt } from '../../../../domain/gateway-config/store.ts'
import type { Transaction } from '../database.ts'
import { selectPage } from '../page.ts'

type CurrentRow = { version: number; is_rolled_back: number; config: string; created_at: number; updated_at: number }
type VersionRow = { id: string; version: number; config: string; created_at: number; created_by: string | null }

const selectCurrent = `select c.version, c.is_rolled_back, c.created_at, v.config, v.created_at as updated_at
  from gateway_config c
  join gateway_config_version v on v.organization_id = c.organization_id and v.version = c.version
  where c.organization_id = $1`

const begin = `insert into gateway_config (organization_id, version, is_rolled_back, created_at)
  values ($1, 1, 0, $2) on conflict (organization_id) do nothing`

const advance = `update gateway_config set version = version + 1, is_rolled_back = 0
  where organization_id = $1 and version = $2`

const insertVersion = `insert into gateway_config_version (id, organization_id, version, config, created_at, created_by)
  values ($1, $2, $3, $4, $5, $6)`

const findSaved = `select 1 as found from gateway_config_version where organization_id = $1 and config = $2 limit 1`

/** Recent versions are compared by what their rows mean today, because fields may have been added since. */
const selectRecent = `select config from gateway_config_version where organization_id = $1 order by version desc limit $2`
const mostCompared = 20

/** Gateway configurations in SQL, in the given transaction. */
export function gatewayStore(tx: Transaction): GatewayStore {
  return {
    async find(organizationId) {
      const [row] = await tx.query<CurrentRow>(selectCurrent, [organizationId])
      return (
        row && {
          config: configurationOf(row.config),
          version: row.version,
          isRolledBack: row.is_rolled_back === 1,
          createdAtMs: row.created_at,
          updatedAtMs: row.updated_at,
        }
      )
    },
    async save(organizationId, config, at) {
      if (!(await claimNext(tx, organizationId, at))) return false
      const values = [at.id, organizationId, at.version + 1, JSON.stringify(config), at.nowMs, at.savedBy]
      await tx.run(insertVersion, values)
      return true
    },
    rollBack: async (organizationId, version) =>
      (await tx.run(
        `update gateway_config set is_rolled_back = 1
         where organization_id = $1 and version = $2 and is_rolled_back = 0`,
        [organizationId, version],
      )) === 1,
    async findVersion(organizationId, version) {
      const sql = 'select config from gateway_config_version where organization_id = $1 and version = $2'
      const [row] = await tx.query<{ config: string }>(sql, [organizationId, version])
      return row && configurationOf(row.config)
    },
    async hasVersion(organizationId, config) {
      const wanted = JSON.stringify(config)
      if ((await tx.query(findSaved, [organizationId, wanted])).length > 0) return true
      const rows = await tx.query<Pick<VersionRow, 'config'>>(selectRecent, [organizationId, mostCompared])
      return rows.some(({ config: saved }) => JSON.stringify(configurationOf(saved)) === wanted)
    },
    listVersions: (organizationId, page) =>
      selectPage(
        tx,
        {
          table: 'gateway_config_version',
          columns: 'id, version, config, created_at, created_by',
          where: { organization_id: organizationId },
          by: 'version',
          map: versionOfRow,
        },
        page,
      ),
  }
}

/** Compare-and-set: of two saves against the same version, one succeeds. */
async function claimNext(tx: Transaction, organizationId: string, { version, nowMs }: SaveAt): Promise<boolean> {
  const isFirst = version === 0
  return (await tx.run(isFirst ? begin : advance, [organizationId, isFirst ? nowMs : version])) === 1
}

const versionOfRow = (row: VersionRow): ConfigurationVersion => ({
  id: row.id,
  version: row.version,
  config: configurationOf(row.config),
  createdAtMs: row.created_at,
  createdBy: row.created_by,
})

/** Fields that did not exist when the row was written get their defaults. */
const configurationOf = (json: string): GatewayConfiguration => withDefaults(JSON.parse(json))
