import type { Commands } from './command.ts'

export const commands: Commands = {
  serve: async () => (await import('./serve.ts')).serve,
  setup: async () => (await import('./setup.ts')).setup,
  orgs: async () => (await import('./orgs.ts')).orgs,
  projects: async () => (await import('./projects.ts')).projects,
  keys: async () => (await import('./keys.ts')).keys,
  policies: async () => (await import('./policies.ts')).policies,
  gateway: async () => (await import('./gateway.ts')).gateway,
  exports: async () => (await import('./exports.ts')).exportsCommand,
  usage: async () => (await import('./usage.ts')).usage,
  limits: async () => (await import('./limits.ts')).limits,
  credits: async () => (await import('./credits.ts')).credits,
  ledger: async () => (await import('./ledger.ts')).ledger,
  audit: async () => (await import('./audit.ts')).audit,
  backup: async () => (await import('./backup.ts')).backup,
  restore: async () => (await import('./restore.ts')).restoreCommand,
  secret: async () => (await import('./secret.ts')).secret,
  migrate: async () => (await import('./migrate.ts')).migrateCommand,
  doctor: async () => (await import('./doctor.ts')).doctor,
  openapi: async () => (await import('./openapi.ts')).openapi,
  completion: async () => (await import('./completion.ts')).completion,
}
