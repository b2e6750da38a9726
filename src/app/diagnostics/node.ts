import { X509Certificate } from 'node:crypto'
import { parseRedisUrl, type RedisHost } from '../../adapters/stores/redis/address.ts'
import { messageOf } from '../../base/fault.ts'
import type { Config } from '../../config/config.ts'
import { tryConnect, type Diagnosis } from './diagnosis.ts'
import { readTlsFiles } from '../tls-files.ts'

export function checkRuntime(): Diagnosis {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  const isNew = major > 24 || (major === 24 && minor >= 15)
  if (isNew) return { part: 'Node', state: 'ok', message: process.versions.node }
  return {
    part: 'Node',
    state: 'wrong',
    message: `${process.versions.node} is too old`,
    fix: 'Install Node 24.15 or newer. In a clone, npm start and npm run gatehouse install their own version.',
  }
}

export async function checkRedis({ storage: { redis_url: redisUrl } }: Config): Promise<Diagnosis[]> {
  if (redisUrl === undefined) return []
  const { hosts } = parseRedisUrl(redisUrl)
  return Promise.all(hosts.map(checkRedisHost))
}

async function checkRedisHost({ host, port }: RedisHost): Promise<Diagnosis> {
  const failure = await tryConnect(host, port)
  if (failure === undefined) return { part: 'Redis', state: 'ok', message: `${host}:${port} answers` }
  return {
    part: 'Redis',
    state: 'warning',
    message: `${host}:${port} cannot be reached (${failure}): if no server can be, each node counts on its own`,
    fix: 'Is Redis running, and is REDIS_URL right?',
  }
}

export function checkTls({ tls }: Config['server']): Diagnosis[] {
  if (tls === undefined) return []
  try {
    const { cert = '' } = readTlsFiles(tls)
    const { validTo, validToDate } = new X509Certificate(String(cert))
    if (validToDate > new Date())
      return [{ part: 'TLS', state: 'ok', message: `the certificate is valid until ${validTo}` }]
    const fix = `Put a new one into ${tls.cert_file}; a running server reloads it.`
    return [{ part: 'TLS', state: 'wrong', message: `the certificate has expired on ${validTo}`, fix }]
  } catch (error) {
    return [{ part: 'TLS', state: 'wrong', message: messageOf(error) }]
  }
}
