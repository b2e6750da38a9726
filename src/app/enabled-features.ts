import type { Config } from '../config/config.ts'
import type { Features } from '../http/admin/organization/me.ts'

/** What the configuration switches on, for clients that show it. */
export const featuresOf = ({
  administration,
  audit,
  policies,
  credits,
  console: { enabled, oidc },
}: Config): Features => ({
  content: audit.content !== 'none',
  replay: audit.content !== 'none' || audit.replay_sample !== undefined,
  judge: policies.judge !== undefined,
  credits: credits.administrators_manage,
  system: administration.system_visible,
  oidc: enabled && oidc !== undefined,
})
