import java.io.BufferedReader;
import java.io.File;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.reflect.Constructor;
import java.lang.reflect.Field;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.apache.paimon.KeyValue;
import org.apache.paimon.Snapshot;
import org.apache.paimon.consumer.Consumer;
import org.apache.paimon.consumer.ConsumerManager;
import org.apache.paimon.data.BinaryRow;
import org.apache.paimon.data.BinaryString;
import org.apache.paimon.data.Decimal;
import org.apache.paimon.data.GenericArray;
import org.apache.paimon.data.GenericMap;
import org.apache.paimon.data.GenericRow;
import org.apache.paimon.data.InternalArray;
import org.apache.paimon.data.InternalMap;
import org.apache.paimon.data.InternalRow;
import org.apache.paimon.data.Timestamp;
import org.apache.paimon.data.serializer.InternalRowSerializer;
import org.apache.paimon.disk.IOManager;
import org.apache.paimon.fs.FileIO;
import org.apache.paimon.fs.Path;
import org.apache.paimon.fs.PositionOutputStream;
import org.apache.paimon.fs.local.LocalFileIO;
import org.apache.paimon.io.DataFileMeta;
import org.apache.paimon.manifest.FileKind;
import org.apache.paimon.manifest.IndexManifestEntry;
import org.apache.paimon.manifest.ManifestCommittable;
import org.apache.paimon.manifest.ManifestEntry;
import org.apache.paimon.manifest.ManifestFileMeta;
import org.apache.paimon.options.ExpireConfig;
import org.apache.paimon.reader.RecordReader;
import org.apache.paimon.schema.Schema;
import org.apache.paimon.schema.SchemaChange;
import org.apache.paimon.schema.SchemaManager;
import org.apache.paimon.schema.TableSchema;
import org.apache.paimon.shade.jackson2.com.fasterxml.jackson.databind.JsonNode;
import org.apache.paimon.shade.jackson2.com.fasterxml.jackson.databind.ObjectMapper;
import org.apache.paimon.shade.jackson2.com.fasterxml.jackson.databind.node.ArrayNode;
import org.apache.paimon.shade.jackson2.com.fasterxml.jackson.databind.node.JsonNodeFactory;
import org.apache.paimon.shade.jackson2.com.fasterxml.jackson.databind.node.ObjectNode;
import org.apache.paimon.stats.SimpleStats;
import org.apache.paimon.stats.Statistics;
import org.apache.paimon.table.FileStoreTable;
import org.apache.paimon.table.FileStoreTableFactory;
import org.apache.paimon.table.Table;
import org.apache.paimon.table.sink.CommitMessage;
import org.apache.paimon.table.sink.CommitMessageImpl;
import org.apache.paimon.table.sink.TableCommitImpl;
import org.apache.paimon.table.sink.TableWriteImpl;
import org.apache.paimon.table.source.DataSplit;
import org.apache.paimon.table.source.ReadBuilder;
import org.apache.paimon.table.source.Split;
import org.apache.paimon.table.system.AuditLogTable;
import org.apache.paimon.tag.Tag;
import org.apache.paimon.types.ArrayType;
import org.apache.paimon.types.DataField;
import org.apache.paimon.types.DataType;
import org.apache.paimon.types.DataTypeJsonParser;
import org.apache.paimon.types.DecimalType;
import org.apache.paimon.types.MapType;
import org.apache.paimon.types.RowKind;
import org.apache.paimon.types.RowType;
import org.apache.paimon.utils.IteratorRecordReader;
import org.apache.paimon.utils.Pair;
import org.apache.paimon.utils.SerializationUtils;

/**
 * Real Paimon, asked by JSON lines: one command on stdin, one answer on stdout, until stdin ends.
 *
 * <p>A command is {"cmd": name, "table": directory, "branch": name or absent, …}. Its answer is {"ok": …, "ms": …} or
 * {"error": {"class", "message", "causes", "at"}, "ms": …}; a failed command never ends the process. The commands and
 * their fields are documented in paimon_java.py, which is the only caller.
 *
 * <p>Invariant: this file adds no judgement. Each command is what the engine's own procedure of that name calls. It compiles
 * against every release from 0.9 to 2.0: what differs between them is called by name, and what a release does not have
 * answers java.lang.UnsupportedOperationException.
 */
public final class PaimonJudge {

    private static final ObjectMapper JSON = new ObjectMapper();
    private static final JsonNodeFactory NODES = JsonNodeFactory.instance;
    private static final FileIO FILES = LocalFileIO.create();

    /** Written but not yet committed, by the handle the "prepare" answer gave. */
    private static final Map<String, Prepared> PREPARED = new HashMap<>();

    private static IOManager spill;

    private record Prepared(
            FileStoreTable table,
            String user,
            ManifestCommittable committable,
            Map<String, String> overwrite,
            boolean ignoreEmpty) {}

    public static void main(String[] arguments) throws Exception {
        PrintStream answers = new PrintStream(new FileOutputStream(FileDescriptor.out), false, StandardCharsets.UTF_8);
        System.setOut(System.err); // whatever the engine prints is no answer
        spill = IOManager.create(arguments[0]);
        BufferedReader commands = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = commands.readLine(); line != null; line = commands.readLine()) {
            long started = System.nanoTime();
            ObjectNode answer = JSON.createObjectNode();
            try {
                answer.set("ok", run(JSON.readTree(line)));
            } catch (Throwable error) {
                answer.set("error", describe(error));
            }
            answer.put("ms", (System.nanoTime() - started) / 1e6);
            answers.write((JSON.writeValueAsString(answer) + "\n").getBytes(StandardCharsets.UTF_8));
            answers.flush();
        }
        spill.close();
        System.exit(0); // the engine leaves threads behind
    }

    private static JsonNode run(JsonNode asked) throws Exception {
        switch (asked.get("cmd").asText()) {
            case "hello":
                return NODES.objectNode().put("java", Runtime.version().toString()).put("zone", ZoneId.systemDefault().getId());
            case "create":
                return create(asked);
            case "alter":
                return alter(asked);
            case "schema":
                return JSON.readTree(open(asked).schema().toString());
            case "write":
                return write(asked);
            case "commit":
                return commit(PREPARED.remove(asked.get("handle").asText()));
            case "abort":
                return abort(PREPARED.remove(asked.get("handle").asText()));
            case "delete_rows":
                return changing(asked, t -> deleteRows(t, asked));
            case "drop_partitions":
                return changing(asked, t -> dropPartitions(t, asked));
            case "truncate":
                return changing(asked, t -> withCommit(t, asked, c -> call(inner(c), "truncateTable", Long.MAX_VALUE)));
            case "compact":
                return compact(asked);
            case "compact_manifest":
                return changing(asked, t -> withCommit(t, asked, c -> call(inner(c), "compactManifest")));
            case "analyze":
                return changing(asked, t -> analyze(t, asked));
            case "create_tag":
                return createTag(asked);
            case "replace_tag":
                call(open(asked), "replaceTag", text(asked, "name"), number(asked, "snapshot"), retained(asked));
                return NODES.booleanNode(true);
            case "rename_tag":
                call(open(asked), "renameTag", text(asked, "name"), text(asked, "to"));
                return NODES.booleanNode(true);
            case "delete_tag":
                open(asked).deleteTag(text(asked, "name"));
                return NODES.booleanNode(true);
            case "expire_tags":
                return expireTags(asked);
            case "auto_tag":
                return autoTag(asked);
            case "create_branch":
                if (has(asked, "tag")) {
                    open(asked).createBranch(text(asked, "name"), text(asked, "tag"));
                } else {
                    open(asked).createBranch(text(asked, "name"));
                }
                return NODES.booleanNode(true);
            case "delete_branch":
                open(asked).deleteBranch(text(asked, "name"));
                return NODES.booleanNode(true);
            case "rename_branch":
                call(open(asked), "renameBranch", text(asked, "name"), text(asked, "to"));
                return NODES.booleanNode(true);
            case "fast_forward":
                open(asked).fastForward(text(asked, "name"));
                return NODES.booleanNode(true);
            case "merge_branch":
                return changing(asked, t -> call(t.branchManager(), "mergeBranch", text(asked, "name"), text(asked, "to")));
            case "expire":
                return expire(asked);
            case "rollback":
                if (has(asked, "tag")) {
                    open(asked).rollbackTo(text(asked, "tag"));
                } else {
                    open(asked).rollbackTo(asked.get("snapshot").asLong());
                }
                return NODES.booleanNode(true);
            case "rollback_as_latest":
                return changing(asked, t -> rollbackAsLatest(t, asked));
            case "repair_earliest":
                return JSON.valueToTree(call(open(asked).snapshotManager(), "repairEarliestSnapshot", asked.get("snapshot").asLong()));
            case "set_consumer":
                consumers(asked).resetConsumer(text(asked, "name"), new Consumer(asked.get("next").asLong()));
                return NODES.booleanNode(true);
            case "delete_consumer":
                consumers(asked).deleteConsumer(text(asked, "name"));
                return NODES.booleanNode(true);
            case "consumers":
                return JSON.valueToTree(consumers(asked).consumers());
            case "snapshots":
                return snapshots(asked);
            case "tags":
                return tags(asked);
            case "branches":
                return JSON.valueToTree(open(asked).branchManager().branches());
            case "as_of":
                return asOf(asked);
            case "travel":
                return travel(asked);
            case "read":
                return read(asked);
            case "totals":
                return totals(asked);
            case "files":
                return files(asked);
            case "refs":
                return refs(asked);
            case "statistics":
                return statistics(open(asked).statistics().orElse(null));
            case "orphans":
                return orphans(asked);
            default:
                throw new IllegalArgumentException("unknown command " + asked.get("cmd"));
        }
    }

    // --- tables -----------------------------------------------------------------------------------------------------

    private static FileStoreTable open(JsonNode asked) {
        FileIO files = has(asked, "hold") ? new Held(asked.get("hold")) : FILES;
        FileStoreTable table = FileStoreTableFactory.create(files, new Path(text(asked, "table")));
        if (has(asked, "branch")) {
            table = (FileStoreTable) table.switchToBranch(text(asked, "branch"));
        }
        return has(asked, "options") ? table.copy(texts(asked.get("options"))) : table;
    }

    private static JsonNode create(JsonNode asked) throws Exception {
        List<DataField> fields = new ArrayList<>();
        for (JsonNode column : asked.get("columns")) {
            fields.add(new DataField(fields.size(), column.get(0).asText(), DataTypeJsonParser.parseDataType(column.get(1))));
        }
        Schema schema =
                new Schema(
                        fields,
                        list(asked.get("partition_keys")),
                        list(asked.get("primary_keys")),
                        new HashMap<>(texts(asked.get("options"))),
                        "");
        new SchemaManager(FILES, new Path(text(asked, "table"))).createTable(schema);
        return NODES.booleanNode(true);
    }

    // Releases before 1.0 have no columns inside of others, so their methods are looked up by name.

    private static SchemaChange added(String name, DataType type) throws ReflectiveOperationException {
        if (!name.contains(".")) {
            return SchemaChange.addColumn(name, type);
        }
        var method = SchemaChange.class.getMethod(
                "addColumn", String[].class, DataType.class, String.class, SchemaChange.Move.class);
        return (SchemaChange) method.invoke(null, name.split("\\."), type, null, null);
    }

    private static SchemaChange dropped(String name) throws ReflectiveOperationException {
        if (!name.contains(".")) {
            return SchemaChange.dropColumn(name);
        }
        return (SchemaChange) SchemaChange.class.getMethod("dropColumn", String[].class).invoke(null, (Object) name.split("\\."));
    }

    /** changes: [op, …], as SchemaChange names them: set_option, remove_option, add, drop, rename, type. Of columns
        inside of others, named by their path with dots, only add and drop. */
    private static JsonNode alter(JsonNode asked) throws Exception {
        List<SchemaChange> changes = new ArrayList<>();
        for (JsonNode change : asked.get("changes")) {
            String name = change.get(1).asText();
            switch (change.get(0).asText()) {
                case "set_option" -> changes.add(SchemaChange.setOption(name, change.get(2).asText()));
                case "remove_option" -> changes.add(SchemaChange.removeOption(name));
                case "add" -> changes.add(added(name, DataTypeJsonParser.parseDataType(change.get(2))));
                case "drop" -> changes.add(dropped(name));
                case "rename" -> changes.add(SchemaChange.renameColumn(name, change.get(2).asText()));
                case "type" -> changes.add(SchemaChange.updateColumnType(name, DataTypeJsonParser.parseDataType(change.get(2))));
                default -> throw new IllegalArgumentException("unknown change " + change);
            }
        }
        SchemaManager schemas = new SchemaManager(FILES, new Path(text(asked, "table")), text(asked, "branch", "main"));
        return NODES.numberNode(schemas.commitChanges(changes).id());
    }

    /**
     * The engine's own disk, held up at one moment: right before it puts a file at a path that ends with "at". A file it
     * renames is held after the engine has looked that nothing is there. It says so by making "directory"/held, and goes
     * on once there is "directory"/go.
     */
    private static final class Held extends LocalFileIO {

        private final String at;
        private final File directory;

        Held(JsonNode hold) {
            at = text(hold, "at");
            directory = new File(text(hold, "directory"));
        }

        @Override
        public File toFile(Path path) {
            File file = super.toFile(path);
            if (!path.toString().endsWith(at)) {
                return file;
            }
            return new File(file.getPath()) {
                @Override
                public java.nio.file.Path toPath() { // what moves and copies ask for, and nothing else
                    hold();
                    return super.toPath();
                }
            };
        }

        @Override
        public PositionOutputStream newOutputStream(Path path, boolean overwrite) throws IOException {
            if (path.toString().endsWith(at)) {
                hold();
            }
            return super.newOutputStream(path, overwrite);
        }

        private void hold() {
            try {
                new File(directory, "held").createNewFile();
                for (long end = System.nanoTime() + 300_000_000_000L; !new File(directory, "go").exists(); Thread.sleep(1)) {
                    if (System.nanoTime() > end) {
                        throw new IllegalStateException("held for five minutes at " + at);
                    }
                }
            } catch (IOException | InterruptedException error) {
                throw new IllegalStateException(error);
            }
        }
    }

    // --- commits ----------------------------------------------------------------------------------------------------

    private interface Act {
        Object on(FileStoreTable table) throws Exception;
    }

    private interface Committing {
        Object on(TableCommitImpl commit) throws Exception;
    }

    /** Runs it and answers which snapshots it made: {"snapshots": [ids]}. */
    private static JsonNode changing(JsonNode asked, Act act) throws Exception {
        FileStoreTable table = open(asked);
        Long before = table.snapshotManager().latestSnapshotId();
        act.on(table);
        return made(open(asked), before);
    }

    private static JsonNode made(FileStoreTable table, Long before) {
        Long after = table.snapshotManager().latestSnapshotId();
        ArrayNode ids = NODES.arrayNode();
        for (long id = before == null ? 1 : before + 1; after != null && id <= after; id++) {
            ids.add(id);
        }
        return NODES.objectNode().set("snapshots", ids);
    }

    private static String user(JsonNode asked) {
        return text(asked, "user", UUID.randomUUID().toString());
    }

    private static Object withCommit(FileStoreTable table, JsonNode asked, Committing act) throws Exception {
        try (TableCommitImpl commit = table.newCommit(user(asked))) {
            return act.on(commit);
        }
    }

    /** The store's own commit: the table's wrapper hides operations that differ in name between releases. */
    private static Object inner(TableCommitImpl commit) throws Exception {
        Field field = TableCommitImpl.class.getDeclaredField("commit");
        field.setAccessible(true);
        return field.get(commit);
    }

    private static JsonNode write(JsonNode asked) throws Exception {
        FileStoreTable table = open(asked);
        String user = user(asked);
        long identifier = has(asked, "identifier") ? asked.get("identifier").asLong() : Long.MAX_VALUE;
        Map<String, String> overwrite = has(asked, "overwrite") ? texts(asked.get("overwrite")) : null;
        List<CommitMessage> messages;
        try (TableWriteImpl<?> writer = writer(table, user, asked)) {
            writer.withIOManager(spill);
            if (overwrite != null) {
                writer.withIgnorePreviousFiles(true);
            }
            RowType type = written(writer, table.rowType(), asked);
            int[] keys = table.primaryKeys().stream().mapToInt(type::getFieldIndex).toArray();
            boolean dynamic = table.bucketMode().name().equals("HASH_DYNAMIC");
            JsonNode kinds = asked.get("kinds");
            if (has(asked, "from")) {
                ReadBuilder source = FileStoreTableFactory.create(FILES, new Path(text(asked, "from"))).newReadBuilder();
                try (RecordReader<InternalRow> reader = source.newRead().createReader(source.newScan().plan().splits())) {
                    reader.forEachRemaining(
                            read -> {
                                try {
                                    writer.write(read);
                                } catch (Exception error) {
                                    throw new IllegalStateException(error);
                                }
                            });
                }
            }
            for (int i = 0; i < asked.get("rows").size(); i++) {
                GenericRow row = row(asked.get("rows").get(i), type);
                if (has(asked, "kinds")) {
                    row.setRowKind(RowKind.fromShortString(kinds.get(i).asText()));
                }
                if (dynamic) { // which bucket is the writer's choice, as long as a key keeps its own
                    int hash = Arrays.hashCode(Arrays.stream(keys).mapToObj(row::getField).map(String::valueOf).toArray());
                    writer.write(row, Math.floorMod(hash, 2));
                } else {
                    writer.write(row);
                }
            }
            messages = writer.prepareCommit(!has(asked, "wait") || asked.get("wait").asBoolean(), identifier);
            if (has(asked, "first_row_id")) {
                place(messages, asked.get("first_row_id").asLong());
            }
        }
        Prepared prepared =
                new Prepared(
                        table,
                        user,
                        committable(identifier, number(asked, "watermark"), messages),
                        overwrite,
                        !has(asked, "ignore_empty") || asked.get("ignore_empty").asBoolean());
        if (has(asked, "prepare") && asked.get("prepare").asBoolean()) {
            String handle = UUID.randomUUID().toString();
            PREPARED.put(handle, prepared);
            return NODES.objectNode().put("handle", handle);
        }
        return commit(prepared);
    }

    /** With a "writer" the same one as before, by its number: files of one writer have an order. */
    private static TableWriteImpl<?> writer(FileStoreTable table, String user, JsonNode asked) {
        return has(asked, "writer") ? (TableWriteImpl<?>) call(table, "newWrite", user, integer(asked, "writer")) : table.newWrite(user);
    }

    /** What rows are written with: all columns, or those that are named. */
    private static RowType written(TableWriteImpl<?> writer, RowType all, JsonNode asked) {
        if (!has(asked, "columns")) {
            return all;
        }
        Set<String> names = new LinkedHashSet<>();
        asked.get("columns").forEach(name -> names.add(name.asText()));
        List<DataField> fields = new ArrayList<>(all.getFields());
        fields.removeIf(field -> !names.contains(field.name()));
        RowType type = new RowType(fields);
        call(writer, "withWriteType", type);
        return type;
    }

    /** Lets the new files hold columns of rows that are there, from this row id on. */
    private static void place(List<CommitMessage> messages, long first) {
        for (CommitMessage message : messages) {
            List<DataFileMeta> files = ((CommitMessageImpl) message).newFilesIncrement().newFiles();
            files.replaceAll(file -> (DataFileMeta) call(file, "assignFirstRowId", first));
        }
    }

    private static ManifestCommittable committable(long identifier, Long watermark, List<? extends CommitMessage> messages) {
        ManifestCommittable committable = new ManifestCommittable(identifier, watermark);
        messages.forEach(committable::addFileCommittable);
        return committable;
    }

    private static JsonNode commit(Prepared prepared) throws Exception {
        Long before = prepared.table.snapshotManager().latestSnapshotId();
        try (TableCommitImpl commit = prepared.table.newCommit(prepared.user)) {
            if (prepared.overwrite != null) {
                commit.withOverwrite(prepared.overwrite);
            }
            commit.ignoreEmptyCommit(prepared.ignoreEmpty);
            commit.commit(prepared.committable);
        }
        return made(prepared.table, before);
    }

    private static JsonNode abort(Prepared prepared) throws Exception {
        try (TableCommitImpl commit = prepared.table.newCommit(prepared.user)) {
            commit.abort(prepared.committable.fileCommittables());
        }
        return NODES.booleanNode(true);
    }

    /** Deletes rows of a table with data evolution by their ids: positions in the vector of their group's anchor file. */
    private static Object deleteRows(FileStoreTable table, JsonNode asked) throws Exception {
        Snapshot latest = table.snapshotManager().latestSnapshot();
        Map<BinaryRow, List<DataFileMeta>> partitions = new LinkedHashMap<>();
        for (ManifestEntry entry : table.store().newScan().withSnapshot(latest).plan().files()) {
            partitions.computeIfAbsent(entry.partition().copy(), none -> new ArrayList<>()).add(entry.file());
        }
        Class<?> maintainers = Class.forName("org.apache.paimon.deletionvectors.append.BaseAppendDeleteFileMaintainer");
        Class<?> utils = Class.forName("org.apache.paimon.utils.DataEvolutionUtils");
        Class<?> reads = Class.forName("org.apache.paimon.operation.DataEvolutionSplitRead");
        List<CommitMessage> messages = new ArrayList<>();
        for (Map.Entry<BinaryRow, List<DataFileMeta>> partition : partitions.entrySet()) {
            Object handler = table.store().newIndexFileHandler();
            Object maintainer = callStatic(maintainers, "forUnawareAppend", handler, latest, partition.getKey());
            boolean any = false;
            for (Object group : (List<?>) callStatic(reads, "mergeRangesAndSort", partition.getValue())) {
                Object anchor = callStatic(utils, "retrieveAnchorFile", group, java.util.function.Function.identity());
                long first = (Long) call(anchor, "nonNullFirstRowId");
                Object vector = make("org.apache.paimon.deletionvectors.BitmapDeletionVector");
                for (JsonNode id : asked.get("ids")) {
                    long at = id.asLong() - first;
                    if (at >= 0 && at < ((DataFileMeta) anchor).rowCount()) {
                        call(vector, "delete", at);
                    }
                }
                if (!(Boolean) call(vector, "isEmpty")) {
                    call(maintainer, "notifyNewDeletionVector", ((DataFileMeta) anchor).fileName(), vector);
                    any = true;
                }
            }
            List<Object> fresh = new ArrayList<>();
            List<Object> gone = new ArrayList<>();
            for (Object each : any ? (List<?>) call(maintainer, "persist") : List.of()) {
                IndexManifestEntry entry = (IndexManifestEntry) each;
                (entry.kind() == FileKind.ADD ? fresh : gone).add(entry.indexFile());
            }
            if (any) {
                List<?> none = Collections.emptyList();
                Object files = make("org.apache.paimon.io.DataIncrement", none, none, none, fresh, gone);
                Object compaction = callStatic(Class.forName("org.apache.paimon.io.CompactIncrement"), "emptyIncrement");
                String message = "org.apache.paimon.table.sink.CommitMessageImpl";
                messages.add((CommitMessage) make(message, partition.getKey(), 0, null, files, compaction));
            }
        }
        return commit(new Prepared(table, user(asked), committable(Long.MAX_VALUE, null, messages), null, true));
    }

    private static Object dropPartitions(FileStoreTable table, JsonNode asked) throws Exception {
        List<Map<String, String>> partitions = new ArrayList<>();
        asked.get("partitions").forEach(partition -> partitions.add(texts(partition)));
        return withCommit(table, asked, c -> call(inner(c), "dropPartitions", partitions, Long.MAX_VALUE));
    }

    /** Compacts every bucket (full unless "full" is false), or what the coordinator of an append table picks. */
    private static JsonNode compact(JsonNode asked) throws Exception {
        FileStoreTable table = open(asked);
        String user = user(asked);
        boolean full = !has(asked, "full") || asked.get("full").asBoolean();
        Long before = table.snapshotManager().latestSnapshotId();
        List<CommitMessage> messages = new ArrayList<>();
        if (table.bucketMode().name().equals("BUCKET_UNAWARE")) {
            messages.addAll(compactAppend(table, user));
        } else {
            Set<Pair<BinaryRow, Integer>> buckets = new LinkedHashSet<>();
            for (ManifestEntry entry : table.store().newScan().plan().files()) {
                if (entry.bucket() >= 0) { // what is in the postpone bucket is moved, not compacted
                    buckets.add(Pair.of(entry.partition().copy(), entry.bucket()));
                }
            }
            try (TableWriteImpl<?> writer = table.newWrite(user)) {
                writer.withIOManager(spill);
                for (Pair<BinaryRow, Integer> bucket : buckets) {
                    writer.compact(bucket.getLeft(), bucket.getRight(), full);
                }
                messages.addAll(writer.prepareCommit(true, Long.MAX_VALUE));
            }
        }
        commit(new Prepared(table, user, committable(Long.MAX_VALUE, null, messages), null, true));
        return made(table, before);
    }

    private static List<CommitMessage> compactAppend(FileStoreTable table, String user) throws Exception {
        Object coordinator;
        try {
            coordinator = make("org.apache.paimon.append.AppendCompactCoordinator", table, false);
        } catch (ClassNotFoundException before) {
            coordinator = make("org.apache.paimon.append.UnawareAppendTableCompactionCoordinator", table, false);
        }
        List<CommitMessage> messages = new ArrayList<>();
        Object writer = table.store().newWrite(user);
        try {
            while (true) {
                List<?> tasks = (List<?>) call(coordinator, "run");
                for (Object task : tasks) {
                    messages.add((CommitMessage) call(task, "doCompact", table, writer));
                }
                if (tasks.isEmpty()) {
                    return messages;
                }
            }
        } catch (RuntimeException error) {
            if (!error.getClass().getSimpleName().equals("EndOfScanException")) {
                throw error;
            }
            return messages;
        } finally {
            call(writer, "close");
        }
    }

    private static Object analyze(FileStoreTable table, JsonNode asked) throws Exception {
        Snapshot latest = table.snapshotManager().latestSnapshot();
        long bytes = 0;
        for (ManifestEntry entry : table.store().newScan().withSnapshot(latest).plan().files()) {
            bytes += entry.file().fileSize();
        }
        Statistics statistics =
                new Statistics(latest.id(), table.schema().id(), latest.totalRecordCount(), bytes, new HashMap<>());
        return withCommit(table, asked, c -> call(inner(c), "commitStatistics", statistics, Long.MAX_VALUE));
    }

    private static Object rollbackAsLatest(FileStoreTable table, JsonNode asked) throws Exception {
        if (!exists("org.apache.paimon.table.sink.TableCommitImpl", "rollbackToAsLatest")) {
            throw new UnsupportedOperationException("this release has no rollback as latest");
        }
        String name = text(asked, "tag", null);
        if (name == null) { // as the procedure does it: a tag keeps the files while the rollback commits
            long id = asked.get("snapshot").asLong();
            name = "rollback-to-as-latest-" + id + "-" + UUID.randomUUID();
            call(table.tagManager(), "createTag", table.snapshotManager().snapshot(id), name, null, Collections.emptyList(), false);
        }
        Object tag = call(table.tagManager(), "getOrThrow", name);
        try (TableCommitImpl commit = table.newCommit("rollback-to-as-latest-" + UUID.randomUUID())) {
            return call(commit, "rollbackToAsLatest", tag);
        }
    }

    // --- tags, expiry -----------------------------------------------------------------------------------------------

    private static Duration retained(JsonNode asked) {
        Long ms = number(asked, "retained_ms");
        return ms == null ? null : Duration.ofMillis(ms);
    }

    private static JsonNode createTag(JsonNode asked) {
        FileStoreTable table = open(asked);
        String name = text(asked, "name");
        Duration retained = retained(asked);
        if (has(asked, "snapshot") && retained != null) {
            table.createTag(name, asked.get("snapshot").asLong(), retained);
        } else if (has(asked, "snapshot")) {
            table.createTag(name, asked.get("snapshot").asLong());
        } else if (retained != null) {
            table.createTag(name, retained);
        } else {
            table.createTag(name);
        }
        return NODES.booleanNode(true);
    }

    /** Tags whose own time is over; with older_than_ms those made before it too. Answers their names. */
    private static JsonNode expireTags(JsonNode asked) throws Exception {
        Object expiry = call(call(open(asked).store(), tagManagerName(), autoTagArguments(asked)), "getTagTimeExpire");
        if (has(asked, "older_than_ms")) {
            expiry = call(expiry, "withOlderThanTime", local(asked.get("older_than_ms").asLong()));
        }
        return JSON.valueToTree(call(expiry, "expire"));
    }

    /** What follows a commit; "batch": what follows a batch write of Flink or Spark. */
    private static JsonNode autoTag(JsonNode asked) throws Exception {
        if (asked.path("batch").asBoolean()) {
            Class<?> creation = Class.forName("org.apache.paimon.tag.TagBatchCreation");
            call(creation.getConstructor(FileStoreTable.class).newInstance(open(asked)), "createTag");
            return NODES.booleanNode(true);
        }
        call(call(open(asked).store(), tagManagerName(), autoTagArguments(asked)), "run");
        return NODES.booleanNode(true);
    }

    private static String tagManagerName() {
        boolean today = Arrays.stream(org.apache.paimon.FileStore.class.getMethods()).anyMatch(m -> m.getName().equals("newTagAutoManager"));
        return today ? "newTagAutoManager" : "newTagCreationManager";
    }

    private static Object[] autoTagArguments(JsonNode asked) {
        boolean takesTable =
                Arrays.stream(org.apache.paimon.FileStore.class.getMethods())
                        .anyMatch(m -> m.getName().equals(tagManagerName()) && m.getParameterCount() == 1);
        return takesTable ? new Object[] {open(asked)} : new Object[0];
    }

    /**
     * rule "call": what CALL expire_snapshots does in this release (options fill what is not given, where it does
     * that); "bare": only what is given; "commit": what the table's next commit would do by itself; "changelogs":
     * long-lived changelogs only. Answers how many snapshots went, -1 where the engine does not say.
     */
    private static JsonNode expire(JsonNode asked) throws Exception {
        FileStoreTable table = open(asked);
        String rule = text(asked, "rule", "call");
        if (rule.equals("commit")) {
            try (TableCommitImpl commit = table.newCommit(user(asked))) {
                commit.expireSnapshots();
            }
            return NODES.numberNode(-1);
        }
        Integer max = integer(asked, "retain_max");
        Integer min = integer(asked, "retain_min");
        Integer deletes = integer(asked, "max_deletes");
        Long olderThan = number(asked, "older_than_ms");
        ExpireConfig.Builder config = ExpireConfig.builder();
        if (rule.equals("call") && exists("org.apache.paimon.utils.ProcedureUtils", "fillInSnapshotOptions")) {
            DateTimeFormatter format = DateTimeFormatter.ofPattern("yyyy-MM-dd HH:mm:ss.SSS");
            String time = olderThan == null ? null : local(olderThan).format(format);
            Class<?> procedures = Class.forName("org.apache.paimon.utils.ProcedureUtils");
            config = (ExpireConfig.Builder) callStatic(procedures, "fillInSnapshotOptions", table.coreOptions(), max, min, time, deletes);
        } else {
            boolean changelogs = rule.equals("changelogs");
            Duration age = olderThan == null ? null : Duration.ofMillis(System.currentTimeMillis() - olderThan);
            give(config, changelogs ? "changelogRetainMax" : "snapshotRetainMax", max);
            give(config, changelogs ? "changelogRetainMin" : "snapshotRetainMin", min);
            give(config, changelogs ? "changelogMaxDeletes" : "snapshotMaxDeletes", deletes);
            give(config, changelogs ? "changelogTimeRetain" : "snapshotTimeRetain", age);
        }
        if (has(asked, "time_retained_ms")) {
            config.snapshotTimeRetain(Duration.ofMillis(asked.get("time_retained_ms").asLong()));
        }
        if (rule.equals("changelogs")) {
            return NODES.numberNode(table.newExpireChangelog().config(config.build()).expire());
        }
        give(config, "changelogRetainMax", integer(asked, "changelog_retain_max"));
        give(config, "changelogRetainMin", integer(asked, "changelog_retain_min"));
        Long changelogAge = number(asked, "changelog_time_retained_ms");
        give(config, "changelogTimeRetain", changelogAge == null ? null : Duration.ofMillis(changelogAge));
        return NODES.numberNode(table.newExpireSnapshots().config(config.build()).expire());
    }

    private static void give(ExpireConfig.Builder config, String name, Object value) throws Exception {
        if (value != null) {
            call(config, name, value);
        }
    }

    private static ConsumerManager consumers(JsonNode asked) {
        return new ConsumerManager(FILES, new Path(text(asked, "table")), text(asked, "branch", "main"));
    }

    private static JsonNode orphans(JsonNode asked) throws Exception {
        FileStoreTable table = open(asked);
        long olderThan = asked.get("older_than_ms").asLong();
        boolean dry = has(asked, "dry_run") && asked.get("dry_run").asBoolean();
        Object cleaner;
        try {
            String name = "org.apache.paimon.operation.LocalOrphanFilesClean";
            cleaner = dry ? make(name, table, olderThan, true) : make(name, table, olderThan);
        } catch (ClassNotFoundException before) {
            if (dry) {
                throw new UnsupportedOperationException("this release's orphan cleaner has no dry run");
            }
            cleaner = make("org.apache.paimon.operation.OrphanFilesClean", table);
            call(cleaner, "olderThan", local(olderThan).format(DateTimeFormatter.ofPattern("yyyy-MM-dd HH:mm:ss")));
        }
        Object result = call(cleaner, "clean");
        Collection<?> paths = (Collection<?>) (result instanceof Collection ? result : call(result, "getDeletedFilesPath"));
        Set<String> named = new TreeSet<>();
        paths.forEach(path -> named.add(relative(table, (Path) path)));
        return JSON.valueToTree(named);
    }

    // --- points in time ---------------------------------------------------------------------------------------------

    private static Snapshot point(FileStoreTable table, JsonNode asked) throws Exception {
        if (has(asked, "tag")) {
            try {
                return (Snapshot) call(call(table.tagManager(), "getOrThrow", text(asked, "tag")), "trimToSnapshot");
            } catch (UnsupportedOperationException before) {
                return (Snapshot) call(table.tagManager(), "taggedSnapshot", text(asked, "tag"));
            }
        }
        if (has(asked, "changelog_id")) {
            String branch = has(asked, "branch") ? "/branch/branch-" + text(asked, "branch") : "";
            String path = text(asked, "table") + branch + "/changelog/changelog-" + text(asked, "changelog_id");
            return Snapshot.fromJson(FILES.readFileUtf8(new Path(path)));
        }
        if (has(asked, "snapshot")) {
            return table.snapshotManager().snapshot(asked.get("snapshot").asLong());
        }
        Snapshot latest = table.snapshotManager().latestSnapshot();
        if (latest == null) {
            throw new IllegalStateException("the table has no snapshot");
        }
        return latest;
    }

    private static FileStoreTable travelled(JsonNode asked) {
        Map<String, String> options = new HashMap<>();
        for (String[] pair :
                new String[][] {
                    {"snapshot", "scan.snapshot-id"},
                    {"tag", "scan.tag-name"},
                    {"time_ms", "scan.timestamp-millis"},
                    {"watermark", "scan.watermark"},
                    {"version", "scan.version"}
                }) {
            if (has(asked, pair[0])) {
                options.put(pair[1], asked.get(pair[0]).asText());
            }
        }
        FileStoreTable table = open(asked);
        return options.isEmpty() ? table : table.copy(options);
    }

    /** Which snapshot the engine's searches pick: rule "earlier" (time travel) or "later" (create a tag). */
    private static JsonNode asOf(JsonNode asked) throws Exception {
        Object snapshots = open(asked).snapshotManager();
        String kind = has(asked, "time_ms") ? "TimeMills" : "Watermark";
        long value = asked.get(has(asked, "time_ms") ? "time_ms" : "watermark").asLong();
        String rule = text(asked, "rule", "earlier");
        Snapshot found = (Snapshot) call(snapshots, rule + "OrEqual" + kind, value);
        return NODES.objectNode().put("snapshot", found == null ? null : found.id());
    }

    /** Which snapshot a batch read at this point takes: null where it has no file to read. */
    private static JsonNode travel(JsonNode asked) {
        Long id = null;
        for (Split split : travelled(asked).newReadBuilder().newScan().plan().splits()) {
            id = ((DataSplit) split).snapshotId();
        }
        return NODES.objectNode().put("snapshot", id);
    }

    private static JsonNode snapshots(JsonNode asked) throws Exception {
        ArrayNode all = NODES.arrayNode();
        for (Iterator<Snapshot> each = open(asked).snapshotManager().snapshots(); each.hasNext(); ) {
            all.add(JSON.readTree(each.next().toJson()));
        }
        return all;
    }

    private static JsonNode tags(JsonNode asked) throws Exception {
        ArrayNode all = NODES.arrayNode();
        for (Pair<Tag, String> each : open(asked).tagManager().tagObjects()) {
            Tag tag = each.getLeft();
            ObjectNode node = all.addObject().put("name", each.getRight()).put("snapshot", tag.id());
            node.put("created", tag.getTagCreateTime() == null ? null : tag.getTagCreateTime().toString());
            node.put("retained_ms", tag.getTagTimeRetained() == null ? null : tag.getTagTimeRetained().toMillis());
        }
        return all;
    }

    // --- rows and files ---------------------------------------------------------------------------------------------

    /** Rows, and of each column its values and their sum (of texts, of their lengths), read by so many threads. */
    private static JsonNode totals(JsonNode asked) throws Exception {
        long started = System.nanoTime();
        FileStoreTable table = open(asked);
        ReadBuilder builder = table.newReadBuilder();
        List<DataType> types = table.rowType().getFieldTypes();
        ExecutorService threads = Executors.newFixedThreadPool(asked.get("threads").asInt());
        List<Future<long[]>> parts = new ArrayList<>();
        for (Split split : builder.newScan().plan().splits()) {
            parts.add(threads.submit(() -> totals(builder, split, types)));
        }
        long[] found = new long[1 + 2 * types.size()];
        for (Future<long[]> part : parts) {
            long[] own = part.get();
            for (int i = 0; i < own.length; i++) {
                found[i] += own[i];
            }
        }
        threads.shutdown();
        ObjectNode answer = NODES.objectNode();
        answer.set("totals", JSON.valueToTree(found));
        answer.put("seconds", (System.nanoTime() - started) / 1e9);
        return answer;
    }

    private static long[] totals(ReadBuilder builder, Split split, List<DataType> types) throws Exception {
        long[] found = new long[1 + 2 * types.size()];
        try (RecordReader<InternalRow> reader = builder.newRead().withIOManager(spill).createReader(split)) {
            reader.forEachRemaining(
                    row -> {
                        found[0]++;
                        for (int i = 0; i < types.size(); i++) {
                            if (!row.isNullAt(i)) {
                                found[1 + 2 * i]++;
                                found[2 + 2 * i] += number(row, i, types.get(i));
                            }
                        }
                    });
        }
        return found;
    }

    private static long number(InternalRow row, int at, DataType type) {
        switch (type.getTypeRoot()) {
            case BIGINT:
                return row.getLong(at);
            case INTEGER:
                return row.getInt(at);
            case VARCHAR:
                return row.getString(at).numChars();
            default:
                throw new IllegalArgumentException("no total of " + type);
        }
    }

    private static JsonNode read(JsonNode asked) throws Exception {
        boolean own = has(asked, "own") && asked.get("own").asBoolean();
        FileStoreTable table = own ? ownPoint(asked) : travelled(asked);
        if (has(asked, "postponed") && asked.get("postponed").asBoolean()) {
            return readPostponed(table, asked);
        }
        // The audit log is the same read with each row's kind before its columns, and with the rows that are deleted.
        Table source = has(asked, "audit") && asked.get("audit").asBoolean() ? new AuditLogTable(table) : table;
        ReadBuilder builder = source.newReadBuilder();
        List<Split> splits =
                own
                        ? table.newSnapshotReader().withSnapshot(point(open(asked), asked)).read().splits()
                        : builder.newScan().plan().splits();
        boolean countOnly = has(asked, "count") && asked.get("count").asBoolean();
        RowType type = source.rowType();
        List<DataType> types = type.getFieldTypes();
        InternalRow.FieldGetter[] getters = new InternalRow.FieldGetter[types.size()];
        for (int i = 0; i < getters.length; i++) {
            getters[i] = InternalRow.createFieldGetter(types.get(i), i);
        }
        ArrayNode rows = NODES.arrayNode();
        long[] count = {0};
        try (RecordReader<InternalRow> reader = builder.newRead().withIOManager(spill).createReader(splits)) {
            reader.forEachRemaining(
                    row -> {
                        count[0]++;
                        if (!countOnly) {
                            ArrayNode values = NODES.arrayNode();
                            for (int i = 0; i < getters.length; i++) {
                                values.add(value(getters[i].getFieldOrNull(row), types.get(i)));
                            }
                            rows.add(values);
                        }
                    });
        }
        ObjectNode answer = NODES.objectNode().put("count", count[0]);
        if (!countOnly) {
            answer.set("columns", JSON.valueToTree(type.getFieldNames()));
            answer.set("rows", rows);
        }
        return answer;
    }

    /**
     * With rows of the postpone bucket, as Spark and Flink read where `postpone.merge-on-read` is true: each record goes to
     * the bucket of its key, in its writer's order. Writers have no order among themselves; "reversed": the other way
     * round.
     */
    private static JsonNode readPostponed(FileStoreTable table, JsonNode asked) throws Exception {
        Class<?> builders = Class.forName("org.apache.paimon.table.source.PostponeMergeReadBuilder");
        Optional<?> found = (Optional<?>) callStatic(builders, "createSnapshotBound", table, null);
        ObjectNode answer = NODES.objectNode();
        ArrayNode rows = answer.putArray("rows");
        if (found.isEmpty()) {
            return answer;
        }
        Object plan = call(found.get(), "plan");
        Object read = call(call(found.get(), "newRead"), "withIOManager", spill);
        InternalRowSerializer keys = new InternalRowSerializer((RowType) call(plan, "keyType"));
        InternalRowSerializer values = new InternalRowSerializer((RowType) call(plan, "mergeReadType"));
        Map<Pair<BinaryRow, Integer>, DataSplit> real = new LinkedHashMap<>();
        for (Object each : (List<?>) call(plan, "realSplits")) {
            DataSplit split = (DataSplit) each;
            if (real.put(Pair.of(split.partition(), split.bucket()), split) != null) {
                throw new IllegalStateException("two splits of one bucket");
            }
        }
        Map<Pair<BinaryRow, Integer>, List<Pair<Long, KeyValue>>> postponed = new LinkedHashMap<>();
        List<Object> writers = new ArrayList<>((List<?>) call(plan, "postponeSplits"));
        if (has(asked, "reversed") && asked.get("reversed").asBoolean()) {
            Collections.reverse(writers);
        }
        for (Object each : writers) {
            DataSplit split = (DataSplit) each;
            long[] number = {0};
            try (RecordReader<?> reader = (RecordReader<?>) call(read, "createPostponeReader", split)) {
                reader.forEachRemaining(
                        of -> {
                            KeyValue record = (KeyValue) of;
                            BinaryRow key = keys.toBinaryRow(record.key()).copy();
                            int bucket = (Integer) call(call(plan, "bucketRouter"), "bucket", split.partition(), key);
                            KeyValue copy = new KeyValue().replace(key, record.valueKind(), values.toBinaryRow(record.value()).copy());
                            Pair<BinaryRow, Integer> at = Pair.of(split.partition(), bucket);
                            postponed.computeIfAbsent(at, none -> new ArrayList<>()).add(Pair.of(number[0]++, copy));
                        });
            }
        }
        Set<Pair<BinaryRow, Integer>> buckets = new LinkedHashSet<>(real.keySet());
        buckets.addAll(postponed.keySet());
        List<DataType> types = ((RowType) call(plan, "resultReadType")).getFieldTypes();
        for (Pair<BinaryRow, Integer> bucket : buckets) {
            List<Pair<Long, KeyValue>> records = postponed.getOrDefault(bucket, new ArrayList<>());
            records.sort(Comparator.comparing(Pair::getLeft));
            Iterator<KeyValue> ordered = records.stream().map(Pair::getRight).iterator();
            Object merged = call(read, "createBucketMergeReader", real.get(bucket), new IteratorRecordReader<>(ordered));
            try (RecordReader<?> reader = (RecordReader<?>) merged) {
                reader.forEachRemaining(
                        row -> {
                            ArrayNode cells = rows.addArray();
                            for (int i = 0; i < types.size(); i++) {
                                Object cell = InternalRow.createFieldGetter(types.get(i), i).getFieldOrNull((InternalRow) row);
                                cells.add(value(cell, types.get(i)));
                            }
                        });
            }
        }
        return answer.put("count", rows.size());
    }

    /** The table as of its own point's schema: the engine's time travel looks for a branch's tag among main's. */
    private static FileStoreTable ownPoint(JsonNode asked) throws Exception {
        Path path = new Path(text(asked, "table"));
        String branch = text(asked, "branch", "main");
        TableSchema schema = new SchemaManager(FILES, path, branch).schema(point(open(asked), asked).schemaId());
        Map<String, String> options = new HashMap<>(schema.options());
        options.put("path", path.toString());
        options.put("branch", branch);
        return FileStoreTableFactory.create(FILES, path, schema.copy(options));
    }

    private static JsonNode files(JsonNode asked) throws Exception {
        FileStoreTable table = open(asked);
        boolean detail = has(asked, "detail") && asked.get("detail").asBoolean();
        ArrayNode all = NODES.arrayNode();
        for (ManifestEntry entry : table.store().newScan().withSnapshot(point(table, asked)).plan().files()) {
            DataFileMeta file = entry.file();
            ObjectNode node = all.addObject().put("path", dataPath(table, entry, file.fileName()));
            node.put("bytes", file.fileSize()).put("rows", file.rowCount());
            node.put("partition", partition(table, entry.partition())).put("bucket", entry.bucket());
            node.put("level", file.level()).put("schema_id", file.schemaId()).put("total_buckets", entry.totalBuckets());
            node.put("source", file.fileSource().map(source -> source.name().toLowerCase()).orElse(null));
            node.put("min_sequence", file.minSequenceNumber()).put("max_sequence", file.maxSequenceNumber());
            node.put("delete_rows", file.deleteRowCount().orElse(null));
            ArrayNode extra = node.putArray("extra");
            for (String name : file.extraFiles()) {
                extra.add(dataPath(table, entry, name));
            }
            if (detail) {
                node.put("min_key", hex(file.minKey())).put("max_key", hex(file.maxKey()));
                node.put("partition_bytes", hex(entry.partition()));
                node.set("key_stats", stats(file.keyStats()));
                node.set("value_stats", stats(file.valueStats()));
            }
        }
        return all;
    }

    /** Every file a reader of this point may open, by kind. Changelog only where asked: tags do not keep it. */
    /** What planners are told: least and greatest values as the engine understands them. */
    private static JsonNode statistics(Statistics found) {
        if (found == null) {
            return NODES.nullNode();
        }
        Map<String, Object> all = new LinkedHashMap<>();
        all.put("snapshot", found.snapshotId());
        all.put("schema", found.schemaId());
        all.put("rows", found.mergedRecordCount().getAsLong());
        all.put("bytes", found.mergedRecordSize().getAsLong());
        Map<String, Object> columns = new LinkedHashMap<>();
        found.colStats().forEach(
                (name, of) -> {
                    Map<String, Object> told = new LinkedHashMap<>();
                    told.put("id", of.colId());
                    told.put("distinct", of.distinctCount().getAsLong());
                    told.put("nulls", of.nullCount().getAsLong());
                    told.put("min", of.min().map(String::valueOf).orElse(null));
                    told.put("max", of.max().map(String::valueOf).orElse(null));
                    told.put("lengths", List.of(of.avgLen().getAsLong(), of.maxLen().getAsLong()));
                    columns.put(name, told);
                });
        all.put("columns", columns);
        return JSON.valueToTree(all);
    }

    private static JsonNode refs(JsonNode asked) throws Exception {
        FileStoreTable table = open(asked);
        Snapshot snapshot = point(table, asked);
        Map<String, Set<String>> all = new LinkedHashMap<>();
        for (String kind : List.of("data", "index", "statistics", "manifest", "manifest-list", "changelog")) {
            all.put(kind, new TreeSet<>());
        }
        if (has(asked, "changelog_id")) {
            changelog(table, snapshot, all.get("changelog"));
            return JSON.valueToTree(all);
        }
        for (ManifestEntry entry : table.store().newScan().withSnapshot(snapshot).plan().files()) {
            all.get("data").add(dataPath(table, entry, entry.file().fileName()));
            entry.file().extraFiles().forEach(name -> all.get("data").add(dataPath(table, entry, name)));
        }
        all.get("manifest-list").add("manifest/" + snapshot.baseManifestList());
        all.get("manifest-list").add("manifest/" + snapshot.deltaManifestList());
        Object lists = call(table.store().manifestListFactory(), "create");
        for (Object manifest : (List<?>) call(lists, "readDataManifests", snapshot)) {
            all.get("manifest").add("manifest/" + ((ManifestFileMeta) manifest).fileName());
        }
        if (snapshot.indexManifest() != null) {
            all.get("manifest").add("manifest/" + snapshot.indexManifest());
            Object indexes = call(table.store().indexManifestFileFactory(), "create");
            for (Object entry : (List<?>) call(indexes, "read", snapshot.indexManifest())) {
                all.get("index").add(indexPath(table, (IndexManifestEntry) entry));
            }
        }
        if (snapshot.statistics() != null) {
            all.get("statistics").add("statistics/" + snapshot.statistics());
        }
        if (has(asked, "changelog") && asked.get("changelog").asBoolean()) {
            changelog(table, snapshot, all.get("changelog"));
        }
        return JSON.valueToTree(all);
    }

    /** What the engine keeps for a changelog: its own, or without a producer the snapshot's lists and its delta. */
    private static void changelog(FileStoreTable table, Snapshot snapshot, Set<String> paths) {
        boolean own = snapshot.changelogManifestList() != null;
        if (!own && !table.coreOptions().changelogProducer().name().equals("NONE")) {
            return; // a compaction without changes
        }
        Object lists = call(table.store().manifestListFactory(), "create");
        Object manifests = call(table.store().manifestFileFactory(), "create");
        if (own) {
            paths.add("manifest/" + snapshot.changelogManifestList());
        } else {
            paths.add("manifest/" + snapshot.baseManifestList());
            paths.add("manifest/" + snapshot.deltaManifestList());
            for (Object manifest : (List<?>) call(lists, "readDataManifests", snapshot)) {
                paths.add("manifest/" + ((ManifestFileMeta) manifest).fileName());
            }
        }
        for (Object manifest : (List<?>) call(lists, own ? "readChangelogManifests" : "readDeltaManifests", snapshot)) {
            String name = ((ManifestFileMeta) manifest).fileName();
            paths.add("manifest/" + name);
            for (Object each : (List<?>) call(manifests, "read", name)) {
                ManifestEntry entry = (ManifestEntry) each;
                if (entry.kind() == FileKind.ADD) {
                    paths.add(dataPath(table, entry, entry.file().fileName()));
                }
            }
        }
    }

    private static String dataPath(FileStoreTable table, ManifestEntry entry, String name) {
        try {
            Optional<?> external = (Optional<?>) call(entry.file(), "externalPath");
            if (external.isPresent()) {
                return new Path(new Path(external.get().toString()).getParent(), name).toString();
            }
        } catch (UnsupportedOperationException before) {
            // 0.9 knows no external paths
        } catch (Exception error) {
            throw new IllegalStateException(error);
        }
        return relative(table, new Path(table.store().pathFactory().bucketPath(entry.partition(), entry.bucket()), name));
    }

    private static String indexPath(FileStoreTable table, IndexManifestEntry entry) throws Exception {
        Object handler = table.store().newIndexFileHandler();
        try {
            return relative(table, (Path) call(handler, "filePath", entry));
        } catch (UnsupportedOperationException before) {
            return relative(table, (Path) call(handler, "filePath", entry.indexFile()));
        }
    }

    private static String relative(FileStoreTable table, Path path) {
        String root = new Path(table.location().toUri().getPath()) + "/";
        String full = path.toUri().getPath();
        return full.startsWith(root) ? full.substring(root.length()) : path.toString();
    }

    private static String partition(FileStoreTable table, BinaryRow partition) {
        String path = table.store().pathFactory().getPartitionString(partition);
        return path.endsWith("/") ? path.substring(0, path.length() - 1) : path;
    }

    private static String hex(BinaryRow row) {
        return HexFormat.of().formatHex(SerializationUtils.serializeBinaryRow(row));
    }

    private static JsonNode stats(SimpleStats stats) {
        ObjectNode node = NODES.objectNode().put("min", hex(stats.minValues())).put("max", hex(stats.maxValues()));
        ArrayNode nulls = node.putArray("nulls");
        for (int i = 0; i < stats.nullCounts().size(); i++) {
            nulls.add(stats.nullCounts().isNullAt(i) ? null : stats.nullCounts().getLong(i));
        }
        return node;
    }

    // --- values: JSON numbers, booleans and text; bytes as hex; decimals, times and non-finite floats as text; variants as JSON

    private static JsonNode value(Object value, DataType type) {
        if (value == null) {
            return NODES.nullNode();
        }
        if (type.getTypeRoot().name().equals("BLOB")) {
            return NODES.textNode(HexFormat.of().formatHex((byte[]) call(value, "toData")));
        }
        if (type.getTypeRoot().name().equals("VARIANT")) {
            return NODES.textNode((String) call(value, "toJson"));
        }
        if (type.getTypeRoot().name().equals("VECTOR")) {
            ArrayNode numbers = NODES.arrayNode();
            for (float number : (float[]) call(value, "toFloatArray")) {
                numbers.add(number);
            }
            return numbers;
        }
        switch (type.getTypeRoot()) {
            case BOOLEAN:
                return NODES.booleanNode((Boolean) value);
            case TINYINT:
            case SMALLINT:
            case INTEGER:
            case BIGINT:
                return NODES.numberNode(((Number) value).longValue());
            case FLOAT:
            case DOUBLE:
                double number = ((Number) value).doubleValue();
                return Double.isFinite(number) ? NODES.numberNode(number) : NODES.textNode(value.toString());
            case DATE:
                return NODES.textNode(LocalDate.ofEpochDay((Integer) value).toString());
            case TIME_WITHOUT_TIME_ZONE:
                return NODES.textNode(LocalTime.ofNanoOfDay((Integer) value * 1_000_000L).toString());
            case TIMESTAMP_WITHOUT_TIME_ZONE:
                return NODES.textNode(((Timestamp) value).toLocalDateTime().toString());
            case TIMESTAMP_WITH_LOCAL_TIME_ZONE:
                return NODES.textNode(((Timestamp) value).toInstant().toString());
            case BINARY:
            case VARBINARY:
                return NODES.textNode(HexFormat.of().formatHex((byte[]) value));
            case ARRAY:
                return array((InternalArray) value, ((ArrayType) type).getElementType());
            case MAP:
                InternalMap map = (InternalMap) value;
                return NODES.arrayNode()
                        .add(array(map.keyArray(), ((MapType) type).getKeyType()))
                        .add(array(map.valueArray(), ((MapType) type).getValueType()));
            case ROW:
                ArrayNode fields = NODES.arrayNode();
                List<DataType> types = ((RowType) type).getFieldTypes();
                for (int i = 0; i < types.size(); i++) {
                    fields.add(value(InternalRow.createFieldGetter(types.get(i), i).getFieldOrNull((InternalRow) value), types.get(i)));
                }
                return fields;
            default:
                return NODES.textNode(value.toString());
        }
    }

    private static JsonNode array(InternalArray array, DataType type) {
        ArrayNode values = NODES.arrayNode();
        InternalArray.ElementGetter getter = InternalArray.createElementGetter(type);
        for (int i = 0; i < array.size(); i++) {
            values.add(value(getter.getElementOrNull(array, i), type));
        }
        return values;
    }

    private static GenericRow row(JsonNode values, RowType type) {
        GenericRow row = new GenericRow(type.getFieldCount());
        for (int i = 0; i < values.size(); i++) {
            row.setField(i, parse(values.get(i), type.getTypeAt(i)));
        }
        return row;
    }

    private static Object parse(JsonNode node, DataType type) {
        if (node.isNull()) {
            return null;
        }
        if (type.getTypeRoot().name().equals("BLOB") && node.isArray()) { // [table, field id, row id]: a view
            return view(node.get(0).asText(), node.get(1).asInt(), node.get(2).asLong());
        }
        if (type.getTypeRoot().name().equals("BLOB")) {
            return blob(HexFormat.of().parseHex(node.asText()));
        }
        if (type.getTypeRoot().name().equals("VARIANT")) {
            return variant(node.asText());
        }
        if (type.getTypeRoot().name().equals("VECTOR")) {
            return vector(node);
        }
        switch (type.getTypeRoot()) {
            case BOOLEAN:
                return node.asBoolean();
            case TINYINT:
                return (byte) node.asInt();
            case SMALLINT:
                return (short) node.asInt();
            case INTEGER:
                return node.asInt();
            case BIGINT:
                return node.asLong();
            case FLOAT:
                return node.isTextual() ? Float.parseFloat(node.asText()) : (float) node.asDouble();
            case DOUBLE:
                return node.isTextual() ? Double.parseDouble(node.asText()) : node.asDouble();
            case CHAR:
            case VARCHAR:
                return BinaryString.fromString(node.asText());
            case DECIMAL:
                DecimalType decimal = (DecimalType) type;
                return Decimal.fromBigDecimal(new BigDecimal(node.asText()), decimal.getPrecision(), decimal.getScale());
            case DATE:
                return (int) LocalDate.parse(node.asText()).toEpochDay();
            case TIME_WITHOUT_TIME_ZONE:
                return (int) (LocalTime.parse(node.asText()).toNanoOfDay() / 1_000_000L);
            case TIMESTAMP_WITHOUT_TIME_ZONE:
                return Timestamp.fromLocalDateTime(LocalDateTime.parse(node.asText()));
            case TIMESTAMP_WITH_LOCAL_TIME_ZONE:
                return Timestamp.fromInstant(Instant.parse(node.asText()));
            case BINARY:
            case VARBINARY:
                return HexFormat.of().parseHex(node.asText());
            case ARRAY:
                return new GenericArray(parseAll(node, ((ArrayType) type).getElementType()));
            case MAP:
                Object[] keys = parseAll(node.get(0), ((MapType) type).getKeyType());
                Object[] values = parseAll(node.get(1), ((MapType) type).getValueType());
                Map<Object, Object> map = new LinkedHashMap<>();
                for (int i = 0; i < keys.length; i++) {
                    map.put(keys[i], values[i]);
                }
                return new GenericMap(map);
            case ROW:
                return row(node, (RowType) type);
            default:
                throw new UnsupportedOperationException("no values of type " + type);
        }
    }

    private static Object[] parseAll(JsonNode nodes, DataType type) {
        Object[] values = new Object[nodes.size()];
        for (int i = 0; i < values.length; i++) {
            values[i] = parse(nodes.get(i), type);
        }
        return values;
    }

    // --- small things -----------------------------------------------------------------------------------------------

    private static boolean has(JsonNode asked, String field) {
        return asked.hasNonNull(field);
    }

    private static String text(JsonNode asked, String field) {
        return asked.get(field).asText();
    }

    private static String text(JsonNode asked, String field, String otherwise) {
        return has(asked, field) ? text(asked, field) : otherwise;
    }

    private static Long number(JsonNode asked, String field) {
        return has(asked, field) ? asked.get(field).asLong() : null;
    }

    private static Integer integer(JsonNode asked, String field) {
        return has(asked, field) ? asked.get(field).asInt() : null;
    }

    private static List<String> list(JsonNode nodes) {
        List<String> all = new ArrayList<>();
        if (nodes != null) {
            nodes.forEach(node -> all.add(node.asText()));
        }
        return all;
    }

    private static Map<String, String> texts(JsonNode node) {
        Map<String, String> all = new LinkedHashMap<>();
        if (node != null) {
            node.fields().forEachRemaining(field -> all.put(field.getKey(), field.getValue().asText()));
        }
        return all;
    }

    private static LocalDateTime local(long ms) {
        return LocalDateTime.ofInstant(Instant.ofEpochMilli(ms), ZoneId.systemDefault());
    }

    private static JsonNode describe(Throwable error) {
        ObjectNode node = NODES.objectNode().put("class", error.getClass().getName()).put("message", error.getMessage());
        ArrayNode causes = node.putArray("causes");
        Throwable root = error;
        for (Throwable cause = error.getCause(); cause != null && causes.size() < 8; cause = cause.getCause()) {
            causes.add(cause.getClass().getName() + ": " + cause.getMessage());
            root = cause;
        }
        ArrayNode at = node.putArray("at"); // of the first cause
        Arrays.stream(root.getStackTrace()).limit(8).forEach(frame -> at.add(frame.toString()));
        return node;
    }

    // --- what differs between releases is called by name ------------------------------------------------------------

    private static Object call(Object on, String name, Object... arguments) {
        return invoke(on.getClass(), on, name, arguments);
    }

    private static Object callStatic(Class<?> on, String name, Object... arguments) {
        return invoke(on, null, name, arguments);
    }

    private static Object blob(byte[] bytes) {
        try {
            return callStatic(Class.forName("org.apache.paimon.data.Blob"), "fromData", (Object) bytes);
        } catch (ClassNotFoundException absent) {
            throw new UnsupportedOperationException("this release has no BLOB");
        }
    }

    private static Object vector(JsonNode numbers) {
        float[] values = new float[numbers.size()];
        for (int i = 0; i < values.length; i++) {
            values[i] = (float) numbers.get(i).asDouble();
        }
        try {
            return callStatic(Class.forName("org.apache.paimon.data.BinaryVector"), "fromPrimitiveArray", (Object) values);
        } catch (ClassNotFoundException absent) {
            throw new UnsupportedOperationException("this release has no VECTOR");
        }
    }

    private static Object view(String table, int field, long row) {
        try {
            Object of = callStatic(Class.forName("org.apache.paimon.catalog.Identifier"), "fromString", table);
            Object struct = make("org.apache.paimon.data.BlobViewStruct", of, field, row);
            return callStatic(Class.forName("org.apache.paimon.data.Blob"), "fromView", struct);
        } catch (Exception absent) {
            throw new UnsupportedOperationException("this release has no views of BLOBs", absent);
        }
    }

    private static Object variant(String json) {
        try {
            return callStatic(Class.forName("org.apache.paimon.data.variant.GenericVariant"), "fromJson", json);
        } catch (ClassNotFoundException absent) {
            throw new UnsupportedOperationException("this release has no VARIANT");
        }
    }

    private static boolean exists(String type, String method) {
        try {
            return Arrays.stream(Class.forName(type).getMethods()).anyMatch(m -> m.getName().equals(method));
        } catch (ClassNotFoundException absent) {
            return false;
        }
    }

    private static Object invoke(Class<?> type, Object on, String name, Object... arguments) {
        for (Method method : type.getMethods()) {
            if (method.getName().equals(name) && fits(method.getParameterTypes(), arguments)) {
                try {
                    method.setAccessible(true);
                    return method.invoke(on, arguments);
                } catch (InvocationTargetException error) {
                    throw PaimonJudge.<RuntimeException>as(error.getCause());
                } catch (IllegalAccessException error) {
                    throw new IllegalStateException(error);
                }
            }
        }
        throw new UnsupportedOperationException("this release has no " + type.getSimpleName() + "." + name + "/" + arguments.length);
    }

    private static Object make(String type, Object... arguments) throws Exception {
        for (Constructor<?> constructor : Class.forName(type).getConstructors()) {
            if (fits(constructor.getParameterTypes(), arguments)) {
                try {
                    return constructor.newInstance(arguments);
                } catch (InvocationTargetException error) {
                    throw PaimonJudge.<RuntimeException>as(error.getCause());
                }
            }
        }
        throw new UnsupportedOperationException("this release has no " + type + "/" + arguments.length);
    }

    private static final Map<Class<?>, Class<?>> BOXES =
            Map.of(int.class, Integer.class, long.class, Long.class, boolean.class, Boolean.class);

    private static boolean fits(Class<?>[] types, Object[] arguments) {
        if (types.length != arguments.length) {
            return false;
        }
        for (int i = 0; i < types.length; i++) {
            Class<?> boxed = BOXES.getOrDefault(types[i], types[i]);
            if (arguments[i] == null ? types[i].isPrimitive() : !boxed.isInstance(arguments[i])) {
                return false;
            }
        }
        return true;
    }

    /** The engine's own exception, checked or not, as it was thrown. */
    @SuppressWarnings("unchecked")
    private static <E extends Throwable> E as(Throwable error) {
        return (E) error;
    }
}
