import type { ReactNode } from 'react'

/** Line icons on a grid of 16, drawn with the colour of the text around them. */
const lines = {
  overview: <path d="M2.5 2.5H7v6H2.5zM9 2.5h4.500V6H9zM2.500 10.500H7v3H2.500zM9 8h4.500v5.500H9z" />,
  requests: <path d="M2.500 4h11M2.500 8h11M2.500 12h7" />,
  policies: <path d="M8 2.200 13 4v4c0 3-2 5-5 6-3-1-5-3-5-6V4z" />,
  more: <path d="M3.500 8h.01M8 8h.01M12.500 8h.01" strokeWidth={2} />,
  gateway: (
    <path d="M2.500 13.500V7.500a5.500 5.500 0 0 1 11 0v6M5.500 13.500v-6a2.500 2.500 0 0 1 5 0v6M2 13.500h12" />
  ),
  judges: <path d="M8 2.500v11M4.500 13.500h7M3 4.500h10M3 4.500 1.500 9h3zM13 4.500 11.500 9h3z" />,
  sinks: <path d="M8 9.800V2.500M5.200 5.200 8 2.400l2.800 2.800M5 7.500H2.500v6h11v-6H11" />,
  models: <path d="M8 2 13.200 4.900v6.200L8 14l-5.200-2.900V4.900zM2.800 4.900 8 7.800l5.200-2.900M8 7.800V14" />,
  limits: (
    <path d="M2.500 12a5.700 5.700 0 1 1 11 0M8 10.500l2.700-3.700M8 11.300a.8.8 0 1 0 0-1.600.8.8 0 0 0 0 1.600z" />
  ),
  costs: (
    <path d="M11.500 4.700c-.6-1.100-1.900-1.700-3.500-1.700-2 0-3.500.9-3.500 2.400 0 3.500 7 1.600 7 5.100 0 1.600-1.500 2.500-3.500 2.500-1.700 0-3.100-.7-3.700-1.900M8 1.500v13" />
  ),
  audit: <path d="M4 2.500h8v11H4zM6.200 5.500h3.600M6.200 8h3.600M6.200 10.500h2" />,
  bell: <path d="M3.5 11.500c1-1 1-2.300 1-4a3.500 3.500 0 0 1 7 0c0 1.700 0 3 1 4zM6.700 13.500h2.600" />,
  settings: (
    <path d="M2.500 4.500h6M12 4.500h1.500M2.500 11.500H4M7.500 11.500h6M10.200 6.200a1.700 1.700 0 1 0 0-3.400 1.700 1.700 0 0 0 0 3.400zM5.800 13.200a1.700 1.700 0 1 0 0-3.400 1.700 1.700 0 0 0 0 3.400z" />
  ),
  search: <path d="M11.300 7A4.300 4.300 0 1 1 2.700 7a4.300 4.300 0 0 1 8.600 0zM10.200 10.200l3.300 3.300" />,
  clock: <path d="M13.700 8A5.700 5.700 0 1 1 2.300 8a5.700 5.700 0 0 1 11.400 0zM8 4.800V8l2.200 1.500" />,
  down: <path d="M4.500 6.300 8 9.800l3.500-3.500" />,
  up: <path d="M4.500 9.700 8 6.200l3.500 3.500" />,
  close: <path d="m4 4 8 8M12 4l-8 8" />,
  plus: <path d="M8 3v10M3 8h10" />,
  copy: (
    <path d="M5.500 7A1.500 1.500 0 0 1 7 5.500h5A1.500 1.500 0 0 1 13.500 7v5a1.500 1.500 0 0 1-1.500 1.500H7A1.500 1.500 0 0 1 5.500 12zM3.500 10.500A1 1 0 0 1 2.500 9.500v-6a1 1 0 0 1 1-1h6a1 1 0 0 1 1 1" />
  ),
  check: <path d="m3.500 8.500 3 3 6-7" />,
  columns: <path d="M2.500 3h11v10h-11zM6.200 3v10M9.800 3v10" />,
  key: <path d="M9 10a3.500 3.500 0 1 1-2-3.200L13.500 2.500M10.500 4.500l2 2" />,
  people: (
    <path d="M8.500 5a2.500 2.500 0 1 1-5 0 2.500 2.500 0 0 1 5 0zM1.500 13.500c0-2.800 1.900-4.500 4.500-4.500s4.500 1.700 4.500 4.500M10.500 2.700a2.500 2.500 0 0 1 0 4.600M12 9.400c1.600.6 2.500 2 2.500 4.100" />
  ),
  menu: <path d="M2.500 5h11M2.500 11h11" />,
  theme: (
    <path d="M8 2.300a5.700 5.700 0 1 0 0 11.400zM8 2.300a5.700 5.700 0 0 1 0 11.400M8 5.500l5 0M8 8.500h5.500M8 11.500h4" />
  ),
  playground: <path d="M2.500 3h11v10h-11zM6.700 5.800v4.400l3.600-2.200z" />,
  terminal: <path d="M2 3h12v10H2zM4.500 6.200 6.300 8 4.500 9.800M8 10h3" />,
  download: <path d="M8 2.500V10M5 7.200l3 2.900 3-2.900M2.500 11v2.500h11V11" />,
  signOut: <path d="M6.500 2.500h-4v11h4M6 8h7.500M10.700 5l3 3-3 3" />,
  link: (
    <path d="M6.500 9.500l3-3M7 4.500l1.200-1.200a2.900 2.900 0 0 1 4.100 4.100L11 8.700M9 11.500l-1.200 1.200a2.900 2.900 0 0 1-4.100-4.100L5 7.300" />
  ),
} satisfies Record<string, ReactNode>

export type IconName = keyof typeof lines

export function Icon({ name, size = 16 }: { readonly name: IconName; readonly size?: 12 | 14 | 16 }) {
  return (
    <svg
      width={size}
      height={size}
      viewBox="0 0 16 16"
      fill="none"
      stroke="currentColor"
      strokeWidth={1.4}
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
    >
      {lines[name]}
    </svg>
  )
}

export function Logo() {
  return (
    <svg width={20} height={20} viewBox="0 0 16 16" fill="currentColor" aria-hidden="true">
      <path d="M2 1h3v2h1.500V1h3v2H11V1h3v14h-3.500v-4a2.500 2.500 0 0 0-5 0v4H2z" />
    </svg>
  )
}
