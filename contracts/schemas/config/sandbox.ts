/** `sandbox`: where commands and files of agents live. Options of single providers are passed on. */
import { z } from 'zod';
import { choice, flag, number, openSection, optionalText, positive, section, text, texts, whole } from './fields';

/** `example.org` or `*.example.org`: never an address with a scheme, a port or a path, never `*` alone. */
const DOMAIN = /^(\*\.)?([a-z0-9]([a-z0-9-]*[a-z0-9])?\.)+[a-z0-9]([a-z0-9-]*[a-z0-9])?$/i;

export const sandboxSchema = openSection({
  use: text('deerflow.sandbox.local:LocalSandboxProvider'),
  allow_host_bash: flag(false),
  image: optionalText,
  port: whole(8080, 1, 65_535),
  container_prefix: text('deer-flow-sandbox'),
  replicas: whole(3, 1),
  overflow_policy: choice(['wait', 'reject', 'burst'], 'wait'),
  /** Seconds. */
  acquire_timeout: positive(30),
  burst_limit: whole(0),
  /** Seconds; 0 keeps idle sandboxes for ever. */
  idle_timeout: number(600),
  health_check_skip_seconds: number(0),
  ownership: section({
    type: z.enum(['memory', 'redis']).nullable().default(null),
    redis_url: optionalText,
    renewal_interval_seconds: positive(30),
    ttl_multiplier: number(4, 2),
    key_prefix: text('deerflow:sandbox:owner'),
    reconciliation_interval_seconds: whole(60, 1),
    reconciliation_grace_seconds: whole(120),
    reconciliation_orphan_ttl_seconds: whole(3600, 1),
    reconciliation_max_pages: whole(10, 1),
    reconciliation_max_items: whole(200, 1),
    reconciliation_max_seconds: whole(15, 1),
  }),
  mounts: z
    .array(z.strictObject({ host_path: z.string(), container_path: z.string(), read_only: z.boolean().default(false) }))
    .default([]),
  thread_data_mounts: z.boolean().nullable().default(null),
  environment: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])).default({}),
  bash_output_max_chars: whole(20_000),
  read_file_output_max_chars: whole(50_000),
  ls_output_max_chars: whole(20_000),
  /** Seconds. */
  bash_command_timeout: positive(600),
  provisioner_url: optionalText,
  provisioner_api_key: optionalText,
  network: section({
    mode: choice(['open', 'isolated', 'allowlist'], 'open'),
    allow_domains: z
      .array(z.string().regex(DOMAIN, 'must be a domain, or one with a leading *. and nothing else'))
      .default([]),
    approval: text('prompt'),
    temporary_grant_ttl: positive(300),
    proxy_image: optionalText,
  }),
});

/** Folders of agents that hold something else already. */
const TAKEN_FOLDERS = ['/mnt/user-data', '/mnt/acp-workspace', '/mnt/integrations/lark-cli'];
const CANONICAL_PATH = /^(\/(?!\.{1,2}(\/|$))[^/]+)+$/;

const overlaps = (one: string, other: string) => `${one}/`.startsWith(`${other}/`) || `${other}/`.startsWith(`${one}/`);

export const skillsSchema = section({
  use: optionalText,
  path: z.string().optional(),
  container_path: z
    .string()
    .regex(CANONICAL_PATH, 'must be an absolute path without . or .. and without a slash at its end')
    .refine(
      (path) => !TAKEN_FOLDERS.some((folder) => overlaps(path, folder)),
      `must not overlap ${TAKEN_FOLDERS.join(', ')}`,
    )
    .default('/mnt/skills'),
  deferred_discovery: flag(false),
});

export const uploadsSchema = section({
  max_files: whole(10, 1),
  /** Bytes. */
  max_file_size: whole(52_428_800, 1),
  /** Bytes. */
  max_total_size: whole(104_857_600, 1),
  auto_convert_documents: flag(false),
  pdf_converter: choice(['auto', 'pymupdf4llm', 'markitdown'], 'auto'),
});

export const toolOutputSchema = section({
  enabled: flag(true),
  externalize_min_chars: whole(12_000),
  preview_head_chars: whole(2_000),
  preview_tail_chars: whole(1_000),
  fallback_max_chars: whole(30_000),
  fallback_head_chars: whole(8_000),
  fallback_tail_chars: whole(3_000),
  storage_subdir: z
    .string()
    .regex(/^(?!\.{1,2}$)[^/\\]+$/, 'must be one path segment')
    .default('.tool-results'),
  exempt_tools: texts(['read_file', 'read_file_tool']),
  tool_overrides: z.record(z.string(), z.int().min(0)).default({}),
});

export const blobStorageSchema = section({ backend_config: section({ root: optionalText }) });
