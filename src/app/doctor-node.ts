import { X509Certificate } from 'node:crypto'
import { messageOf } from '../base/fault.ts'
import type { Config } from '../config/config.ts'
import { tryConnect, type Diagnosis } from './diagnosis.ts'
import { readTlsFiles } from './tls-files.ts'

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
  const url = new URL(redisUrl)
  const failure = await tryConnect(url.hostname, Number(url.port || 6379))
  if (failure === undefined) return [{ part: 'Redis', state: 'ok', message: `${url.host} answers` }]
  return [
    {
      part: 'Redis',
      state: 'warning',
      message: `${url.host} cannot be reached (${failure}): each node would count on its own`,
      fix: 'Is Redis running, and is REDIS_URL right?',
    },
  ]
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
