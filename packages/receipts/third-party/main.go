// An auditor that shares no code with Countersign: it checks an export with Go's own
// implementations of signed notes and transparency log trees (golang.org/x/mod/sumdb, the code behind
// sum.golang.org) and crypto/ed25519 of its standard library.
//
//	main EXPORT [-old CHECKPOINT -growth PROOF]
//
// EXPORT is a directory that `countersign receipts export` wrote. PROOF holds the hashes of a
// consistency proof from CHECKPOINT to the export's own, one in base64 on each line.
package main

import (
	"bytes"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

const proofHeader = "c2sp.org/tlog-proof@v1"

func must(err error, what string) {
	if err != nil {
		fmt.Printf("FAILED  %s: %v\n", what, err)
		os.Exit(1)
	}
}

func mustHold(ok bool, what string) {
	if !ok {
		must(fmt.Errorf("does not hold"), what)
	}
}

func read(parts ...string) []byte {
	path := filepath.Join(parts...)
	data, err := os.ReadFile(path)
	must(err, path)
	return data
}

// A checkpoint (C2SP tlog-checkpoint) is a signed note of origin, size and root, a line each.
func openCheckpoint(data []byte, verifier note.Verifier) tlog.Tree {
	opened, err := note.Open(data, note.VerifierList(verifier))
	must(err, "checkpoint signature")
	lines := strings.Split(opened.Text, "\n")
	mustHold(len(lines) >= 4 && lines[0] == verifier.Name(), "checkpoint origin")
	size, err := strconv.ParseInt(lines[1], 10, 64)
	must(err, "checkpoint size")
	root, err := tlog.ParseHash(lines[2])
	must(err, "checkpoint root")
	return tlog.Tree{N: size, Hash: root}
}

type directory string

// Tiles lie where C2SP tlog-tiles puts them: Go's path has the height in it, ours does not.
func pathOf(tile tlog.Tile) string {
	return strings.Replace(tile.Path(), "tile/8/", "tile/", 1)
}

// The hashes of a tree in memory, in Go's own order.
type storedHashes []tlog.Hash

func (s storedHashes) ReadHashes(indexes []int64) ([]tlog.Hash, error) {
	found := make([]tlog.Hash, len(indexes))
	for i, index := range indexes {
		if index >= int64(len(s)) {
			return nil, fmt.Errorf("no hash %d", index)
		}
		found[i] = s[index]
	}
	return found, nil
}

func (d directory) entries(index, size int64) [][]byte {
	width := size - index*256
	if width > 256 {
		width = 256
	}
	tile := tlog.Tile{H: 8, L: 0, N: index, W: int(width)}
	path := strings.Replace(pathOf(tile), "tile/0/", "tile/entries/", 1)
	data := read(string(d), path)
	var found [][]byte
	for len(data) > 0 {
		mustHold(len(data) >= 2, path)
		length := 2 + int(binary.BigEndian.Uint16(data))
		mustHold(len(data) >= length, path)
		found = append(found, data[2:length])
		data = data[length:]
	}
	mustHold(int64(len(found)) == width, path)
	return found
}

var signatureMember = regexp.MustCompile(`,"signature":"([^"]*)"`)

// A canonical receipt without its signature member is what was signed. A batch signature says which
// leaf of which small tree the receipt is (docs/receipts/batch-signature.md).
func checkReceipt(line []byte) (batch bool) {
	var receipt struct {
		Key       string `json:"kernel_key"`
		Signature string `json:"signature"`
	}
	must(json.Unmarshal(line, &receipt), "receipt")
	body := signatureMember.ReplaceAll(line, nil)
	key, err := hex.DecodeString(strings.TrimPrefix(receipt.Key, "ed25519:"))
	must(err, "receipt key")
	fields := strings.Split(receipt.Signature, ":")
	if fields[0] == "ed25519" {
		signature, err := hex.DecodeString(fields[1])
		must(err, "receipt signature")
		mustHold(ed25519.Verify(key, body, signature), "receipt signature")
		return false
	}
	mustHold(fields[0] == "ed25519-batch" && len(fields) == 4, "kind of receipt signature")
	var index, size int64
	_, err = fmt.Sscanf(fields[1], "%d/%d", &index, &size)
	must(err, "batch signature")
	signature, err := hex.DecodeString(fields[2])
	must(err, "batch signature")
	var path tlog.RecordProof
	for rest := fields[3]; len(rest) > 0; rest = rest[43:] {
		var hash tlog.Hash
		decoded, err := base64.RawURLEncoding.DecodeString(rest[:43])
		must(err, "batch path")
		copy(hash[:], decoded)
		path = append(path, hash)
	}
	root := rootOf(path, index, size, tlog.RecordHash(body))
	message := append([]byte("countersign.receipt-batch.v1\x00"), 0, 0, 0, 0)
	binary.BigEndian.PutUint32(message[len(message)-4:], uint32(size))
	mustHold(ed25519.Verify(key, append(message, root[:]...), signature), "batch root signature")
	must(tlog.CheckRecord(path, size, root, index, tlog.RecordHash(body)), "batch path")
	return true
}

// RFC 6962: the root a path leads to. Go's package checks a path against a root but gives none.
func rootOf(path tlog.RecordProof, index, size int64, leaf tlog.Hash) tlog.Hash {
	if size <= 1 || len(path) == 0 {
		return leaf
	}
	split := int64(1)
	for split*2 < size {
		split *= 2
	}
	last := len(path) - 1
	if index < split {
		return tlog.NodeHash(rootOf(path[:last], index, split, leaf), path[last])
	}
	return tlog.NodeHash(path[last], rootOf(path[:last], index-split, size-split, leaf))
}

func checkProof(data []byte, verifier note.Verifier, entries [][]byte) {
	parts := bytes.SplitN(data, []byte("\n\n"), 2)
	mustHold(len(parts) == 2, "proof")
	lines := strings.Split(string(parts[0]), "\n")
	mustHold(lines[0] == proofHeader, "proof header")
	index, err := strconv.ParseInt(strings.TrimPrefix(lines[1], "index "), 10, 64)
	must(err, "proof index")
	var proof tlog.RecordProof
	for _, line := range lines[2:] {
		hash, err := tlog.ParseHash(line)
		must(err, "proof hash")
		proof = append(proof, hash)
	}
	tree := openCheckpoint(parts[1], verifier)
	err = tlog.CheckRecord(proof, tree.N, tree.Hash, index, tlog.RecordHash(entries[index]))
	must(err, fmt.Sprintf("proof of entry %d", index))
}

func checkGrowth(old tlog.Tree, tree tlog.Tree, text []byte) {
	var proof tlog.TreeProof
	for _, line := range strings.Fields(string(text)) {
		hash, err := tlog.ParseHash(line)
		must(err, "consistency hash")
		proof = append(proof, hash)
	}
	must(tlog.CheckTree(proof, tree.N, tree.Hash, old.N, old.Hash), "consistency with the old checkpoint")
}

func main() {
	oldPath := flag.String("old", "", "an older checkpoint of the same log")
	growthPath := flag.String("growth", "", "hashes of the consistency proof from it")
	flag.Parse()
	export := flag.Arg(0)
	verifier, err := note.NewVerifier(strings.TrimSpace(string(read(export, "log.vkey"))))
	must(err, "log.vkey")
	tree := openCheckpoint(read(export, "checkpoint"), verifier)
	fmt.Printf("held    checkpoint of %d entries, signed by %s\n", tree.N, verifier.Name())

	// The tree is made anew from the entries. (TileHashReader would do less: up to version 0.7 of
	// golang.org/x/mod it passes over some of the tiles it should authenticate.)
	var all [][]byte
	var stored storedHashes
	for index := int64(0); index*256 < tree.N; index++ {
		for _, entry := range directory(export).entries(index, tree.N) {
			hashes, err := tlog.StoredHashes(int64(len(all)), entry, stored)
			must(err, "tree")
			stored = append(stored, hashes...)
			all = append(all, entry)
		}
	}
	root, err := tlog.TreeHash(tree.N, stored)
	must(err, "tree")
	mustHold(root == tree.Hash, "entries hash to the signed root")
	fmt.Printf("held    %d entries hash to the signed root\n", len(all))
	count := 0
	tiles := tlog.NewTiles(8, 0, tree.N)
	for i, tile := range tiles {
		// Go lists every width a partial tile has ever had; an export holds the last one.
		if i+1 < len(tiles) && tiles[i+1].L == tile.L && tiles[i+1].N == tile.N {
			continue
		}
		count++
		data, err := tlog.ReadTileData(tile, stored)
		must(err, "tile")
		mustHold(bytes.Equal(data, read(export, pathOf(tile))), pathOf(tile))
	}
	fmt.Printf("held    %d tiles are those of the tree\n", count)

	lines := bytes.Split(bytes.TrimSuffix(read(export, "receipts.jsonl"), []byte("\n")), []byte("\n"))
	mustHold(len(lines) == len(all), "lines of receipts.jsonl")
	batched := 0
	for i, line := range lines {
		mustHold(bytes.Contains(all[i], line), fmt.Sprintf("receipt %d in its entry", i))
		if checkReceipt(line) {
			batched++
		}
	}
	fmt.Printf("held    %d receipt signatures, %d of them by batch\n", len(lines), batched)

	proofs, err := filepath.Glob(filepath.Join(export, "proofs", "*.tlog-proof"))
	must(err, "proofs")
	for _, path := range proofs {
		checkProof(read(path), verifier, all)
	}
	fmt.Printf("held    %d inclusion proofs\n", len(proofs))
	if *oldPath != "" {
		old := openCheckpoint(read(*oldPath), verifier)
		checkGrowth(old, tree, read(*growthPath))
		fmt.Printf("held    consistency with the checkpoint of %d entries\n", old.N)
	}
}
