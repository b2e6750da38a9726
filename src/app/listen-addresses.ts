import type { Config } from '../config/config.ts'

/** What a port serves. Every port also serves the health endpoints. */
const purposes = ['api', 'administration', 'metrics'] as const
export type Purpose = (typeof purposes)[number]

export const allPurposes: ReadonlySet<Purpose> = new Set(purposes)

/** What the ports that describe their endpoints may serve. The documentation is built for each of these. */
export const describedPorts: readonly ReadonlySet<Purpose>[] = (
  [['api'], ['administration'], ['api', 'administration']] as const
).flatMap((described) => [new Set<Purpose>(described), new Set<Purpose>([...described, 'metrics'])])

/** The name of a port in the built documentation, such as `api-metrics`. */
export const portName = (served: ReadonlySet<Purpose>): string => purposes.filter((each) => served.has(each)).join('-')

/** An address to listen on, and the names of the settings that it comes from. */
export type PlannedListener = {
  readonly host: string
  readonly port: number
  readonly purposes: ReadonlySet<Purpose>
  readonly settings: { readonly host: string; readonly port: string }
}

type ServerSettings = Config['server']

/** The ports to open: one for everything, or several if a purpose has an address of its own. Equal addresses share a port. */
export function planListeners(server: ServerSettings): PlannedListener[] {
  const { host, port } = server
  const main = { host, port, settings: { host: 'GATEHOUSE_HOST', port: 'GATEHOUSE_PORT' } }
  const addressOf = (ownHost: string | undefined, ownPort: number | undefined, name: string) =>
    ownHost === undefined && ownPort === undefined
      ? main
      : {
          host: ownHost ?? host,
          port: ownPort ?? port,
          settings: { host: `GATEHOUSE_${name}_HOST`, port: `GATEHOUSE_${name}_PORT` },
        }
  const planned = [
    { purpose: 'api' as const, address: main },
    { purpose: 'administration' as const, address: addressOf(server.admin_host, server.admin_port, 'ADMIN') },
    { purpose: 'metrics' as const, address: addressOf(server.metrics_host, server.metrics_port, 'METRICS') },
  ]
  const groups = Map.groupBy(planned, ({ address }) =>
    address.port === 0 ? address : `${address.host}:${address.port}`,
  )
  return [...groups.values()].flatMap((group) => {
    const [first] = group
    return first === undefined ? [] : [{ ...first.address, purposes: new Set(group.map(({ purpose }) => purpose)) }]
  })
}

/** Explains why a port could not be opened, and which setting to change. */
export function listenError(error: unknown, { host, port, settings }: PlannedListener): unknown {
  const messages: Readonly<Record<string, string>> = {
    EADDRINUSE: `${host}:${port} is already in use. Stop the process that listens there, or set ${settings.port}.`,
    EACCES: `This user may not listen on port ${port}. Set ${settings.port} to one above 1023.`,
    EADDRNOTAVAIL: `${host} is not an address of this machine. Set ${settings.host} to one of its own, or to 0.0.0.0 for all.`,
    ENOTFOUND: `The host ${host} cannot be resolved. Set ${settings.host} to an address of this machine.`,
  }
  const message = error instanceof Error && 'code' in error ? messages[String(error.code)] : undefined
  return message === undefined ? error : new Error(message, { cause: error })
}
