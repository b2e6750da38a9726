import type { Log } from '../../base/log.ts'
import type { SpoolDrainParts } from '../../base/spool.ts'

/** Logs an item that a spool sets aside because the database rejects it for good. */
export const logSetAside =
  (log: Log, item: string): SpoolDrainParts<unknown>['onSetAside'] =>
  (id, cause) =>
    log.error(
      { id, error: String(cause) },
      `the database rejects this ${item}: it is set aside on the disk of this node and tried again at the next start`,
    )

/** The help text of a gauge that counts such items. */
export const setAsideHelp = (items: string): string =>
  `${items} on this node’s disk that the database rejected since the start and that are tried again at the next start.`
