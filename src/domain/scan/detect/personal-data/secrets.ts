/** API keys and tokens, recognised by their vendors' prefixes. */
import { endOfMatch } from './look-behind.ts'

const shapes = [
  'sk-[A-Za-z0-9_-]{20,200}', // OpenAI, Anthropic and compatible vendors
  '[spr]k_(?:live|test)_[A-Za-z0-9]{16,200}', // Stripe
  'gh[oprsu]_[A-Za-z0-9]{36,255}',
  'github_pat_[A-Za-z0-9_]{22,255}',
  'glpat-[A-Za-z0-9_-]{20,64}',
  '(?:AKIA|ASIA)[A-Z0-9]{16}',
  'xox[abeoprs]-[A-Za-z0-9-]{10,250}',
  'AIza[A-Za-z0-9_-]{35}',
  'ya29\\.[A-Za-z0-9_-]{20,500}',
  'npm_[A-Za-z0-9]{36}',
  'pypi-[A-Za-z0-9_-]{50,250}',
  'hf_[A-Za-z0-9]{30,64}',
  'SG\\.[A-Za-z0-9_-]{16,32}\\.[A-Za-z0-9_-]{32,64}',
  'dop_v1_[a-f0-9]{64}',
  'shpat_[a-fA-F0-9]{32}',
  '(?:ak|adm)_[A-Za-z0-9]{38}', // Gatehouse
  'eyJ[A-Za-z0-9_-]{10,1000}\\.eyJ[A-Za-z0-9_-]{10,1000}(?:\\.[A-Za-z0-9_-]{1,1000})?', // JSON web tokens
]
const token = new RegExp(`(?:${shapes.join('|')})(?![A-Za-z0-9_])`, 'y')

/** Longer than every token format. */
export const longestSecret = 3_100

/** End of the token that begins here, or -1. */
export const findToken = (text: string, start: number): number => endOfMatch(token, text, start)

const privateKey =
  /-----BEGIN [A-Z ]{0,20}PRIVATE KEY-----[A-Za-z0-9+/=\s]{0,8192}(?:-----END [A-Z ]{0,20}PRIVATE KEY-----)?/y

/** Longer than every private key. */
export const longestPrivateKey = 8_300

/** End of the private key block that begins here, or -1. A truncated block counts up to its end. */
export const findPrivateKey = (text: string, start: number): number => endOfMatch(privateKey, text, start)

/** Matches an unfinished private key at the end of a text. */
export const unfinishedPrivateKey =
  /-(?:-{0,4}|-{4}[A-Z ]{1,40}-{0,5}|-{4}BEGIN [A-Z ]{0,20}PRIVATE KEY-----[A-Za-z0-9+/=\s]{0,8192}(?:-{1,5}|-----[A-Z ]{1,40}-{0,5})?)$/
