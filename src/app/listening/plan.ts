import type { Config } from '../../config/config.ts'

/** What a port serves. Health is on all of them. */
const purposes = ['api', 'administration', 'metrics'] as const
export type Purpose = (typeof purposes)[number]

export const allPurposes: ReadonlySet<Purpose> = new Set(purposes)

/** An address to listen on, and the settings that say so. */
export type PlannedListener = {
  readonly host: string
  readonly port: number
  readonly purposes: ReadonlySet<Purpose>
  readonly settings: { readonly host: string; readonly port: string }
}

type ServerSettings = Config['server']

/** The ports to open: one, or others for what has been given its own. What has the same address shares it. */
export function planListeners(server: ServerSettings): PlannedListener[] {
  const { host, port } = server
  const main = { host, port, settings: { host: 'GATEHOUSE_HOST', port: 'GATEHOUSE_PORT' } }
  const ownPlace = (ownHost: string | undefined, ownPort: number | undefined, name: string) =>
    ownHost === undefined && ownPort === undefined
      ? main
      : {
          host: ownHost ?? host,
          port: ownPort ?? port,
          settings: { host: `GATEHOUSE_${name}_HOST`, port: `GATEHOUSE_${name}_PORT` },
        }
  const wishes = [
    { purpose: 'api' as const, place: main },
    { purpose: 'administration' as const, place: ownPlace(server.admin_host, server.admin_port, 'ADMIN') },
    { purpose: 'metrics' as const, place: ownPlace(server.metrics_host, server.metrics_port, 'METRICS') },
  ]
  const groups = Map.groupBy(wishes, ({ place }) => (place.port === 0 ? place : `${place.host}:${place.port}`))
  return [...groups.values()].flatMap((group) => {
    const [first] = group
    return first === undefined ? [] : [{ ...first.place, purposes: new Set(group.map(({ purpose }) => purpose)) }]
  })
}
