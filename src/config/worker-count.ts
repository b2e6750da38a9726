import { ConfigError, type Config } from './config.ts'

type Settings = {
  readonly server: Pick<Config['server'], 'workers'>
  readonly storage: Pick<Config['storage'], 'database_url' | 'redis_url'>
}

/** How many processes serve the ports. `cores` is what `auto` stands for, where the storage allows it. */
export function workerCount({ server: { workers }, storage }: Settings, cores: number): number {
  const missing = missingStorage(storage)
  if (workers === 'auto') return missing === undefined ? cores : 1
  if (workers === 1 || missing === undefined) return workers
  throw new ConfigError([
    `server.workers: ${workers} workers need ${missing}. Set it, or set server.workers to 1 or auto`,
  ])
}

function missingStorage({ database_url: databaseUrl, redis_url: redisUrl }: Settings['storage']): string | undefined {
  if (databaseUrl === undefined)
    return 'PostgreSQL (storage.database_url), because embedded storage belongs to one process'
  return redisUrl === undefined ? 'Redis (storage.redis_url), because they count limits together' : undefined
}
