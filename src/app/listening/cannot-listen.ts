import type { PlannedListener } from './plan.ts'

/** Says which setting to change. */
export function cannotListen(error: unknown, { host, port, settings }: PlannedListener): unknown {
  const words: Readonly<Record<string, string>> = {
    EADDRINUSE: `${host}:${port} is in use already. Stop what listens there, or set ${settings.port}.`,
    EACCES: `This user may not listen on port ${port}. Set ${settings.port} to one above 1023.`,
    EADDRNOTAVAIL: `${host} is no address of this machine. Set ${settings.host} to one of its own, or to 0.0.0.0 for all.`,
    ENOTFOUND: `${host} is no address that can be found. Set ${settings.host} to one of this machine.`,
  }
  const known = error instanceof Error && 'code' in error ? words[String(error.code)] : undefined
  return known === undefined ? error : new Error(known, { cause: error })
}
