import { readFileSync } from 'node:fs'
import type { MailSettings } from '../../adapters/alerts/mail-channel.ts'
import { messageOf } from '../../base/fault.ts'
import { ConfigError, type Config } from '../../config/config.ts'
import type { Infrastructure } from '../infrastructure.ts'

type MailParts = Pick<Infrastructure, 'config' | 'live' | 'clock'>

/** How mail is sent; undefined if the installation has no mail server. */
export function mailSettings({ config: { mail }, live, clock }: MailParts): MailSettings | undefined {
  const { smtp_url: url, from, starttls } = mail
  if (url === undefined) return undefined
  if (from === undefined)
    throw new ConfigError(['mail.from: is required with mail.smtp_url, such as alerts@example.com'])
  const { protocol, username, hostname } = new URL(url)
  if (starttls === 'never' && protocol === 'smtp:' && username !== '' && !isThisMachine(hostname))
    throw new ConfigError([
      'mail.starttls: never would send the password of mail.smtp_url unencrypted over the network',
    ])
  return {
    smtpUrl: () => live.read('mail.smtp_url', url),
    from,
    starttls,
    caPem: authorityOf(mail),
    timeoutMs: mail.timeout_ms,
    clock,
  }
}

const isThisMachine = (hostname: string): boolean => hostname === 'localhost' || /^(127\.|\[::1\])/.test(hostname)

function authorityOf({ ca_file: file }: Config['mail']): string | undefined {
  if (file === undefined) return undefined
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw new ConfigError([`mail.ca_file: ${messageOf(error)}`])
  }
}
